import type { VideoAccountConfig } from '../config/schema/videohost.ts';
import { HubError } from '../errors/hub-error.ts';

/** An account of the video platform (spec §2.4). */
export interface VideoAccount {
  id: string;
  clientId: string;
  clientSecret: string;
  /** Exactly as registered, `target` parameter included. */
  redirectUri: string;
}

export interface Accounts {
  readonly all: readonly VideoAccount[];
  /**
   * The account that a request names in its header `x-target`, or in a query parameter.
   * @throws HubError `target_required`, `account_not_found`
   */
  require(target: string | undefined, param?: string): VideoAccount;
}

export function createAccounts(configured: readonly VideoAccountConfig[]): Accounts {
  const all = configured.map((account) => ({
    id: account.id,
    clientId: account.client_id,
    clientSecret: account.client_secret,
    redirectUri: account.redirect_uri,
  }));
  const byId = new Map(all.map((account) => [account.id, account]));
  return {
    all,
    require(target, param = 'x-target') {
      if (target === undefined || target === '') {
        throw new HubError('target_required', `${param} must name a video account`, {
          param,
          extra: {
            target: null,
            reason: 'missing_target',
            hint: `Send ${param} with the id of one of videohost.accounts.`,
          },
        });
      }
      const account = byId.get(target);
      if (account !== undefined) return account;
      throw new HubError('account_not_found', 'There is no video account of this id', {
        param,
        extra: {
          target: target.slice(0, 200),
          reason: 'unknown_target',
          hint: `Send ${param} with the id of one of videohost.accounts.`,
        },
      });
    },
  };
}
