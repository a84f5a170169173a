/** Tokens of one account, as they stand in its file (spec §2.5). */
export interface Tokens {
  access_token: string;
  /** Absent where the identity provider gave none: the account then ends with its access token. */
  refresh_token?: string;
  /** Granted scopes, separated by spaces. */
  scope: string;
  token_type: string;
  /** Milliseconds since the epoch. */
  expiry_date: number;
}

/** Small records that are kept beside the tokens of an account. */
export type NoteName = 'refused' | 'pending';

/**
 * Where tokens live, and what every copy of the hub must know about them. File, memory and S3 pass one contract
 * test. Account ids are checked by the configuration, so that they are sound names.
 */
export interface TokenStore {
  /** The tokens; undefined where there are none. @throws Error when they are there and cannot be read. */
  read(accountId: string): Promise<Tokens | undefined>;
  /** Replaces the tokens; whoever reads meanwhile sees the old ones or the new ones, whole. */
  write(accountId: string, tokens: Tokens): Promise<void>;
  /** Deletes the tokens and their notes; whether there were tokens. */
  remove(accountId: string): Promise<boolean>;
  readNote(accountId: string, name: NoteName): Promise<string | undefined>;
  writeNote(accountId: string, name: NoteName, text: string): Promise<void>;
  removeNote(accountId: string, name: NoteName): Promise<void>;
  /** Uses up a nonce that is good until `expiresAt` (ms); false where it was used before. Atomic over all copies. */
  spend(nonce: string, expiresAt: number): Promise<boolean>;
  /**
   * Waits for the account's lock, held by one copy of the hub at a time; a holder that died loses it. Resolves with
   * its release.
   */
  lock(accountId: string, signal: AbortSignal): Promise<() => Promise<void>>;
}

/**
 * Reads a stored text as tokens.
 * @throws Error that says what is wrong, without a token in it.
 */
export function parseTokens(text: string): Tokens {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the stored tokens are not JSON');
  }
  const tokens = (typeof value === 'object' && value !== null ? value : {}) as Partial<Tokens>;
  if (typeof tokens.access_token !== 'string' || tokens.access_token === '') {
    throw new Error('the stored tokens lack access_token');
  }
  const { refresh_token: refresh, scope, token_type: type, expiry_date: expiry } = tokens;
  const complete = {
    ...tokens,
    access_token: tokens.access_token,
    scope: typeof scope === 'string' ? scope : '',
    token_type: typeof type === 'string' ? type : 'Bearer',
    // Without an expiry the token counts as expired: a refresh tells the truth.
    expiry_date: typeof expiry === 'number' ? expiry : 0,
  };
  if (typeof refresh === 'string' && refresh !== '') return { ...complete, refresh_token: refresh };
  delete complete.refresh_token;
  return complete as Tokens;
}
