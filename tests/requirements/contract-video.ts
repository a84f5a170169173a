/** Contract §7, the video routes. */
export const video: Readonly<Record<string, string>> = {
  // authorization
  'C7-pkce': 'the authorization code flow uses PKCE S256, offline access, consent and both scopes',
  'C7-state': 'state is bound to the account, lives 10 minutes and works once',
  'C7-state-any-copy': 'any copy of the hub can take the callback',
  'C7-state-invalid': 'a callback without a valid state is 400 OAuth authentication failed',
  'C7-state-optional': 'videohost.requireState: false is there for odd identity providers',
  'C7-callback-answer':
    'the callback answers HTML to a browser and JSON {success, target} where Accept asks for it',

  // errors
  'C7-error-members': 'error carries target, reason and hint beside message, type and code',
  'C7-target': 'x-target missing is 400 target_required, unknown 404 account_not_found',
  'C7-no-authentication': 'no token file is 401 no_authentication with the named message and the id',
  'C7-token-expired':
    'a refused refresh or no refresh token is 401 token_expired; status says false, the file stays',
  'C7-insufficient-permissions': 'insufficient scopes or rights are 403 insufficient_permissions',
  'C7-quota': 'quota reasons are 429 quotaExceeded with Retry-After to midnight Pacific, not retried',
  'C7-upload-limit': 'uploadLimitExceeded is 429 uploadLimitExceeded',
  'C7-redirect-uri': 'redirect_uri_mismatch is 400 with the exact URI to register',
  'C7-oauth-denied': 'access_denied and bad state are 400 oauth_failed',
  'C7-oauth-client': 'invalid_client or a disabled API is 502 oauth_failed, at the exchange and at a refresh',
  'C7-upstream':
    'a platform or identity provider that is down after retries is 502 upstream_unavailable; the account keeps its state',

  // upload
  'C7-before-body': 'auth, target and usable token are checked before the body is read',
  'C7-any-order': 'parts may come in any order',
  'C7-constant-memory': 'the video may be of any size in constant memory, spooled to disk',
  'C7-507': 'announced or received bytes past the free space are 507, announced ones before reading',
  'C7-resumable':
    'the video is sent by the resumable protocol; a lost reply is queried before anything is sent twice',
  'C7-overlap':
    'sending may start while receiving once the title is in; the last chunk waits for the whole form',
  'C7-late-metadata':
    'a later field that changes the metadata opens a new session; an invalid form cancels it',
  'C7-field-errors': 'missing, empty, over-long, bad, too many or too large parts are 4xx naming the field',
  'C7-thumbnail-content': 'the thumbnail type is judged by content, not by name',
  'C7-nothing-left': 'after a refusal nothing is left on disk',
  'C7-thumbnail-failure': 'a failed thumbnail is 200 with thumbnailUploaded false and thumbnailError',
  'C7-category-table': 'categoryId must be one of the table',

  // jobs
  'C7-job': 'GET /videohost/uploads/{uploadId} has the stated fields and states',
  'C7-jobs': 'GET /videohost/uploads lists uploads',
  'C7-job-cancel': 'DELETE cancels an upload',
  'C7-respond-async': 'Prefer: respond-async answers 202 with Location, uploadId and statusUrl once spooled',
  'C7-idempotency':
    'a repeat under an Idempotency-Key waits for or returns the first result, per account, 24 h, across restarts',
  'C7-idempotency-failures': 'failures are not remembered',
  'C7-idempotency-other-body': 'another body under the same key is 422',
  'C7-resume-after-kill': 'a hub killed in the middle resumes the upload at its next start',
  'C7-lease': 'a job holds a lease; a start resumes or sweeps dead leases of its own accounts only',
  'C7-own-uploads':
    'a caller sees and cancels only his own uploads (404 otherwise; all while auth is off), kept 24 h',

  // account state
  'C7-logout-idempotent': 'logout without a file is 200; a failed revoke still deletes and message says so',
  'C7-status-local': 'status never calls out; a refused refresh is remembered beside the token',
  'C7-token-merge': 'a refresh without refresh_token keeps the old one',
  'C7-refresh-single-flight': 'one refresh is in flight per account',
  'C7-token-atomic':
    'token files are written atomically with mode 0600 and never deleted on a passing failure',
  'C7-token-secrecy':
    'tokens, codes, verifiers and secrets are never in a log or an error; the callback query is not logged',
  'C7-account-ids': 'account ids match ^[\\w.-]+$ with no ..',
};
