import { json, type OperationGroup, type Parameter, target } from '../operation.ts';

const account = target('Id of the video account.');
const uploadId: Parameter = {
  in: 'path',
  name: 'uploadId',
  description: 'Id of the upload.',
  required: true,
};
const lost = ['target_required', 'account_not_found'] as const;

export const videoOperations: OperationGroup = {
  name: 'Video',
  description: 'Accounts of the video platform: sign-in, and uploads of any size that survive a restart.',
  operations: [
    {
      method: 'get',
      path: '/videohost/auth/idp',
      summary: 'Begin the sign-in of an account',
      access: 'main',
      parameters: [account],
      answers: { 200: json('Where the account’s owner goes next.', 'AuthorizationUrl') },
      errors: lost,
    },
    {
      method: 'get',
      path: '/videohost/auth/idp/callback',
      summary: 'Finish the sign-in of an account',
      description:
        'The identity provider sends the browser here. Denied access and a state that is not valid are 400 `oauth_failed`.',
      access: 'public',
      parameters: [
        { in: 'query', name: 'target', description: 'Id of the account.', required: true },
        { in: 'query', name: 'state', description: 'Single use, ten minutes.' },
        { in: 'query', name: 'code', description: 'The grant.' },
        { in: 'query', name: 'error', description: 'Why there is none.' },
      ],
      answers: {
        200: {
          description: 'The tokens are stored.',
          bodies: [{ contentType: 'application/json', schema: 'Granted' }, { contentType: 'text/html' }],
        },
      },
      errors: [...lost, 'oauth_failed', 'redirect_uri_mismatch', 'upstream_unavailable'],
    },
    {
      method: 'get',
      path: '/videohost/auth/status',
      summary: 'Show whether an account is signed in',
      access: 'main',
      parameters: [account],
      answers: { 200: json('Its state, from what is stored.', 'AccountStatus') },
      errors: lost,
    },
    {
      method: 'post',
      path: '/videohost/auth/logout',
      summary: 'Sign an account out',
      access: 'main',
      parameters: [account],
      answers: { 200: json('The tokens are deleted; `message` says whether they were revoked too.', 'Done') },
      errors: lost,
    },
    {
      method: 'post',
      path: '/videohost/staging',
      summary: 'Get a place to put a video',
      description:
        'For videos past the body limit of a serverless platform, where `videohost.staging` is configured (else 404): `PUT` the bytes to `uploadUrl`, then upload with `staged` in place of `video`.',
      access: 'main',
      parameters: [account],
      answers: { 201: json('The place, for one video of this account and caller.', 'StagedPlace') },
      errors: [...lost, 'not_found'],
    },
    {
      method: 'post',
      path: '/videohost/upload',
      summary: 'Upload a video',
      access: 'main',
      parameters: [
        account,
        {
          in: 'header',
          name: 'idempotency-key',
          description: 'A repeat within 24 hours gets the result of the first.',
        },
        { in: 'header', name: 'prefer', description: '`respond-async`: do not wait for the platform.' },
      ],
      body: { contentType: 'multipart/form-data', schema: 'UploadForm', required: true },
      answers: {
        200: json('The video is up.', 'UploadResult'),
        202: json('The video is here; `Location` tells how it goes on.', 'AcceptedUpload'),
      },
      errors: [
        ...lost,
        'invalid_request',
        'no_authentication',
        'token_expired',
        'insufficient_permissions',
        'body_too_large',
        'unsupported_media_type',
        'idempotency_mismatch',
        'quotaExceeded',
        'uploadLimitExceeded',
        'upstream_unavailable',
        'insufficient_storage',
      ],
    },
    {
      method: 'get',
      path: '/videohost/uploads',
      summary: 'List your uploads',
      access: 'main',
      answers: { 200: json('Those of the last 24 hours.', 'UploadList') },
    },
    {
      method: 'get',
      path: '/videohost/uploads/{uploadId}',
      summary: 'Show an upload',
      access: 'main',
      parameters: [uploadId],
      answers: { 200: json('How far it is.', 'Upload') },
      errors: ['upload_not_found'],
    },
    {
      method: 'delete',
      path: '/videohost/uploads/{uploadId}',
      summary: 'Cancel an upload',
      access: 'main',
      parameters: [uploadId],
      answers: { 200: json('As it stands now.', 'Upload') },
      errors: ['upload_not_found', 'conflict'],
    },
  ],
};
