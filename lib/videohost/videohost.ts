import type { VideohostConfig } from '../config/schema/videohost.ts';
import { parseSize } from '../config/size.ts';
import type { OutboundProxy } from '../http-client/outbound-proxy.ts';
import type { Logger } from '../logging/logger.ts';
import { type AccountTokens, createAccountTokens } from './account-tokens.ts';
import { type Accounts, createAccounts, type VideoAccount } from './accounts.ts';
import { type Authorization, createAuthorization } from './authorization.ts';
import { oauthErrorOf } from './google/errors.ts';
import { allowsUploads, createGoogleIdentity } from './google/oauth.ts';
import { createGooglePlatform } from './google/youtube.ts';
import { createResumableUpload } from './resumable-upload.ts';
import { type ChunkSender, createPlatformDispatcher } from './sender/chunk-sender.ts';
import { createStaging, type Staging } from './staging/s3.ts';
import { createFileTokenStore } from './token-store/file.ts';
import { createS3TokenStore } from './token-store/s3.ts';
import type { TokenStore } from './token-store/token-store.ts';
import type { UploadAccount } from './upload-account.ts';
import { createUploads, type Uploads } from './uploads.ts';

/** The video part of one hub, without HTTP. */
export interface Videohost {
  accounts: Accounts;
  /** Of an account that `accounts` knows. */
  of(account: VideoAccount): { tokens: AccountTokens; authorization: Authorization };
  uploads: Uploads;
  /** Undefined where no bucket is configured. */
  staging: Staging | undefined;
  close(): Promise<void>;
}

/**
 * @param config undefined where the file has no such section: a hub without accounts
 * @param sender where the bytes of videos leave; closed with the rest
 */
export function createVideohost(
  config: VideohostConfig | undefined,
  logger: Logger,
  sender: ChunkSender,
  proxy: OutboundProxy,
): Videohost {
  const accounts = createAccounts(config?.accounts ?? []);
  const dispatcher = createPlatformDispatcher(proxy);
  const store = config === undefined ? undefined : createTokenStore(config);
  const parts = new Map(
    config === undefined || store === undefined
      ? []
      : accounts.all.map((account) => [account.id, createAccountParts(account, config, store)]),
  );

  function createAccountParts(
    account: VideoAccount,
    { endpoints, upload, requireState }: VideohostConfig,
    tokenStore: TokenStore,
  ) {
    const identity = createGoogleIdentity({ account, endpoints, dispatcher });
    const tokens = createAccountTokens({ accountId: account.id, store: tokenStore, identity, logger });
    const platform = createGooglePlatform({ target: account.id, origin: endpoints.api, dispatcher });
    const uploading: UploadAccount = {
      platform,
      accessToken: tokens.accessToken,
      resumable: createResumableUpload({
        target: account.id,
        platform,
        dispatcher,
        sender,
        accessToken: tokens.accessToken,
        chunkSize: parseSize(upload.chunkSize),
        retryFor: upload.retryFor,
        logger,
      }),
    };
    const authorization = createAuthorization({
      account,
      store: tokenStore,
      identity,
      tokens,
      callbackError: (reason) => oauthErrorOf(account, 'authorize', plainWord(reason)),
      allowsUploads,
      requireState,
      logger,
    });
    return { tokens, authorization, uploading };
  }

  const staging = config?.staging === undefined ? undefined : createStaging({ place: config.staging });
  const uploads = createUploads({
    spoolPath: config?.upload.spoolPath ?? './spool',
    limits: {
      maxFileSize: parseSize(config?.upload.maxFileSize ?? 0),
      maxThumbnailSize: parseSize(config?.upload.maxThumbnailSize ?? 0),
      chunkSize: parseSize(config?.upload.chunkSize ?? 0),
    },
    account: (target) => parts.get(target)?.uploading,
    staging,
    logger,
  });

  return {
    accounts,
    of(account) {
      const found = parts.get(account.id);
      if (found === undefined) throw new Error(`no parts of the account ${account.id}`);
      return found;
    },
    uploads,
    staging,
    async close() {
      await uploads.close();
      await Promise.all([sender.close(), dispatcher.destroy()]);
    },
  };
}

function createTokenStore(config: VideohostConfig): TokenStore {
  const { token_store: kind, token_storage_path: directory, token_storage_file: pattern } = config;
  return kind === 'file'
    ? createFileTokenStore({ directory, pattern })
    : createS3TokenStore({ place: kind, pattern });
}

/** A word from a callback's query, which anybody can write. */
function plainWord(text: string): string {
  return /^[\w.-]{1,80}$/.test(text) ? text : 'unknown_error';
}
