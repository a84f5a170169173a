/** Tokens of one call as the provider reported them, or estimated. */
export interface TokenCounts {
  prompt: number;
  completion: number;
  cached?: number;
  reasoning?: number;
  /** True when the provider reported none and the hub estimated. */
  estimated: boolean;
}

/** What is known when a call begins. */
export interface UsageStart {
  /** `chat.completions`, `embeddings`, `completions`, `responses`. */
  action: string;
  caller: string;
  streaming: boolean;
}

/** What is known when a call has ended. */
export interface UsageEnd {
  outcome: 'success' | 'error' | 'aborted';
  /** Target that answered (after fallback) or was tried last; undefined when none was chosen. */
  target?: string;
  provider?: string;
  /** The model the provider reported, else the one asked for. */
  model?: string;
  tokens?: TokenCounts;
  /** Milliseconds from the start of the call to its first event, of streams. */
  firstTokenMs?: number;
  finishReasons?: readonly string[];
  /** Cost by the target's price, in the price's currency. */
  cost?: number;
}

/** A call in flight. `end` counts it; only its first call has an effect. */
export interface UsageCall {
  end(end: UsageEnd): void;
}

/** What one proxy counted since its last hand-over. */
export interface ProxyCounts {
  id: string;
  requests: number;
  errors: number;
  /** Requests by status, e.g. `{"200": 3}`. */
  statuses: Record<string, number>;
  /** Latency of each request in ms, at most 1,000 a hand-over. */
  latenciesMs: readonly number[];
}

/** The counters of AI calls and proxies, kept in the companion's memory (spec §2.10, contract §8). */
export interface UsageCounters {
  begin(start: UsageStart): UsageCall;
  addProxyCounts(counts: readonly ProxyCounts[]): void;
  /** The `runtimeUsage` object. */
  snapshot(): RuntimeUsage;
  /** Clears everything but calls in flight, and restarts `since`. */
  reset(): void;
}

/** Milliseconds; all null while nothing was measured. */
export interface LatencySummary {
  avg: number | null;
  min: number | null;
  max: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

export interface UsageRow {
  requests: number;
  errors: number;
  promptTokens: number;
  completionTokens: number;
  latencyMs: LatencySummary;
  firstTokenMs: LatencySummary;
  /** Completion tokens a second over the calls that reported tokens; null while unknown. */
  tokensPerSecond: number | null;
}

/** `runtimeUsage` of the admin API (contract §8). */
export interface RuntimeUsage {
  since: string;
  uptimeSeconds: number;
  requests: {
    total: number;
    success: number;
    error: number;
    aborted: number;
    inFlight: number;
    streaming: number;
  };
  streamingRatio: number;
  errorRate: number;
  tokens: {
    prompt: number;
    completion: number;
    total: number;
    cached: number;
    reasoning: number;
    estimated: number;
  };
  cost?: number;
  activeModels: string[];
  latencyMs: LatencySummary;
  firstTokenMs: LatencySummary;
  models: ({ provider: string; model: string } & UsageRow)[];
  providers: ({ provider: string } & UsageRow)[];
  targets: ({ target: string } & UsageRow)[];
  actions: ({ action: string } & UsageRow)[];
  finishReasons: Record<string, number>;
  callers: {
    caller: string;
    requests: number;
    errors: number;
    promptTokens: number;
    completionTokens: number;
  }[];
  proxies: {
    id: string;
    requests: number;
    errors: number;
    statuses: Record<string, number>;
    latencyMs: LatencySummary;
  }[];
  history: {
    at: string;
    requests: number;
    errors: number;
    promptTokens: number;
    completionTokens: number;
    latencyAvgMs: number | null;
  }[];
}
