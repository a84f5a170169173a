import type { Operation } from '../operations.ts';

/** Where OpenAI's API has each operation, behind its `/v1`. */
export const OPENAI_PATHS: Record<Operation, string> = {
  'chat.completions': '/chat/completions',
  completions: '/completions',
  embeddings: '/embeddings',
  responses: '/responses',
};
