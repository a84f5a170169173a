/** What the hub can be asked for, named as usage counts it. */
export type Operation = 'chat.completions' | 'completions' | 'embeddings' | 'responses';

export interface OperationFacts {
  /** Public path, and the internal one. */
  path: string;
  /** Member that must be an array before anything is sent upstream. */
  requiredArray?: string;
  /** Whether it knows `stream_options.include_usage`. */
  hasUsageOption: boolean;
  /** Members that limit the answer; the target's default is not added beside any of them. */
  limits: readonly LimitName[];
}

/** Names under which a body may limit its answer. */
export type LimitName = 'max_completion_tokens' | 'max_tokens' | 'max_output_tokens';

export const OPERATIONS: Record<Operation, OperationFacts> = {
  'chat.completions': {
    path: '/v1/chat/completions',
    requiredArray: 'messages',
    hasUsageOption: true,
    limits: ['max_completion_tokens', 'max_tokens'],
  },
  completions: { path: '/v1/completions', hasUsageOption: true, limits: ['max_tokens'] },
  embeddings: { path: '/v1/embeddings', hasUsageOption: false, limits: [] },
  responses: { path: '/v1/responses', hasUsageOption: false, limits: ['max_output_tokens'] },
};
