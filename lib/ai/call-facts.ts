/** Tokens as a provider reports them. */
export interface ReportedUsage {
  prompt: number;
  completion: number;
  cached?: number;
  reasoning?: number;
}

/** What is learnt about a call while its answer passes by. */
export interface CallFacts {
  /** As the provider names it. */
  model: string | undefined;
  usage: ReportedUsage | undefined;
  finishReasons: string[];
  /** Characters of the answer seen so far; the base of an estimate where no usage comes. */
  completionChars: number;
  /** The provider has said that the answer is complete. */
  isComplete: boolean;
  /** The provider has reported an error in the middle of a stream. */
  hasFailed: boolean;
}

export function createCallFacts(): CallFacts {
  return {
    model: undefined,
    usage: undefined,
    finishReasons: [],
    completionChars: 0,
    isComplete: false,
    hasFailed: false,
  };
}
