import { parseSize } from '../size.ts';
import { checkHeaderText } from './headers.ts';
import { eachItem, type Rule, unique } from './rule.ts';
import { isOrigin } from './urls.ts';

const CALLBACK_PATH = '/videohost/auth/idp/callback';
/** The platform takes chunks in multiples of this. */
const CHUNK_UNIT = 262_144;

/** Video accounts, their token files, uploads (spec §2.4, contract §7). */
export const videohostRules: Rule = (view, { report }) => {
  const videohost = view.videohost;
  if (videohost === undefined) return;
  unique(videohost.accounts, 'id', ['videohost', 'accounts'], report);

  eachItem(videohost.accounts, (account, index) => {
    const path = ['videohost', 'accounts', index];
    for (const key of ['client_id', 'client_secret'] as const)
      checkHeaderText(account[key], [...path, key], report);
    const { id, redirect_uri: redirect } = account;
    if (redirect === undefined || id === undefined || !URL.canParse(redirect)) return;
    const here = [...path, 'redirect_uri'];
    const url = new URL(redirect);
    const targets = url.searchParams.getAll('target');
    if (targets.some((target) => target !== id))
      report.fault(here, 'has a target other than the id of this account');
    else if (targets.length === 0) report.warn(here, `lacks ?target=${id}, which the callback needs`);
    if (url.hash !== '') report.fault(here, 'must not hold a fragment');
    if (!url.pathname.endsWith(CALLBACK_PATH)) report.warn(here, `does not lead to ${CALLBACK_PATH}`);
    if (url.protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)) {
      report.warn(here, 'is plain http on a public host, which identity providers refuse');
    }
  });

  const pattern = videohost.token_storage_file;
  if (pattern !== undefined) checkTokenFiles(pattern, videohost.accounts ?? []);

  const { chunkSize, maxFileSize, maxThumbnailSize } = videohost.upload ?? {};
  if (
    chunkSize !== undefined &&
    (parseSize(chunkSize) < CHUNK_UNIT || parseSize(chunkSize) % CHUNK_UNIT !== 0)
  ) {
    report.fault(['videohost', 'upload', 'chunkSize'], 'must be a multiple of 256 KiB');
  }
  for (const [key, text] of Object.entries({ maxFileSize, maxThumbnailSize })) {
    if (text !== undefined && parseSize(text) < 1)
      report.fault(['videohost', 'upload', key], 'must be at least one byte');
  }
  const api = videohost.endpoints?.api;
  if (api !== undefined && URL.canParse(api) && !isOrigin(api)) {
    report.fault(
      ['videohost', 'endpoints', 'api'],
      'must be an origin such as https://www.googleapis.com, without a path',
    );
  }

  function checkTokenFiles(
    name: string,
    accounts: readonly ({ id?: string | undefined } | undefined)[],
  ): void {
    const path = ['videohost', 'token_storage_file'];
    if (/[/\\\0]/.test(name) || name === '.' || name === '..') {
      report.fault(path, 'must be a plain file name inside token_storage_path');
      return;
    }
    const owners = new Map<string, number>();
    eachItem(accounts, (account, index) => {
      if (account.id === undefined) return;
      const file = name.replaceAll('{id}', account.id);
      const first = owners.get(file);
      if (first === undefined) owners.set(file, index);
      else if (accounts[first]?.id !== account.id) {
        report.fault(
          path,
          `gives accounts[${first}] and accounts[${index}] one token file; it must hold {id}`,
        );
      }
    });
  }
};
