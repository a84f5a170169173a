import { Type } from '@sinclair/typebox';
import { answer, orNull, text } from './vocabulary.ts';

const TYPES = [
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'rate_limit_error',
  'timeout_error',
  'upstream_error',
  'server_error',
];

export const commonSchemas = {
  Error: answer(
    {
      error: Type.Object({
        message: text('For people. A 500 says nothing about its cause: the log does, under the request id.'),
        type: text(`Family: ${TYPES.join(', ')}, or a provider's own.`),
        code: Type.Optional(
          Type.Unsafe<string | number | null>({
            type: ['string', 'number', 'null'],
            description: "Stable word for programs; a provider's own errors keep theirs.",
          }),
        ),
        param: Type.Optional(
          Type.Unsafe<string | null>({
            type: ['string', 'null'],
            description: 'The field, header or parameter that is wrong.',
          }),
        ),
        details: Type.Optional(Type.Unknown({ description: 'Further facts.' })),
        target: Type.Optional(orNull(text('Video routes: the account.'))),
        reason: Type.Optional(text('Video routes: what the platform called it.')),
        hint: Type.Optional(text('Video routes: what to do about it.')),
      }),
    },
    'The one shape of every error.',
  ),
  Done: answer({ success: Type.Boolean(), message: text() }),
};
