import { createPrometheusText, type Labels } from './prometheus.ts';
import type { Series } from './series.ts';
import type { LatencySummary, RuntimeUsage } from './usage.ts';

/** What the metrics need of a tool server's row (contract §6); the rows have more. */
export interface McpServerFacts {
  name: string;
  transport: string;
  healthy: boolean;
  restarts: number;
  inFlight: number;
  invocations: number;
  errors: Readonly<Record<string, number>>;
  latencyMs: LatencySummary;
  tools: readonly { name: string; invocations: number; errors: number }[];
}

/** Well-known values of `gen_ai.provider.name`; other providers keep their own name. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  gemini: 'gcp.gemini',
};
/** Well-known values of `gen_ai.operation.name`. */
const OPERATION_NAMES: Readonly<Record<string, string>> = {
  'chat.completions': 'chat',
  responses: 'chat',
  completions: 'text_completion',
};

/** Values of `network.transport` by how a tool server is reached (MCP conventions). */
const NETWORK_TRANSPORTS: Readonly<Record<string, string>> = { stdio: 'pipe' };

function seriesLabels({ action, provider, model }: Series): Labels {
  return {
    gen_ai_operation_name: OPERATION_NAMES[action] ?? action,
    gen_ai_provider_name: PROVIDER_NAMES[provider] ?? provider,
    gen_ai_response_model: model,
    // Tells the calls that share an operation name apart.
    openai_api_type: action === 'responses' ? 'responses' : '',
  };
}

/**
 * Everything counted, as Prometheus text. Names are those of OpenTelemetry's GenAI and MCP conventions in their
 * Prometheus spelling (dots become underscores, the unit is appended); what they do not cover is named `hub_…`.
 */
export function renderMetrics(
  usage: RuntimeUsage,
  series: readonly Series[],
  servers: readonly McpServerFacts[],
): string {
  const text = createPrometheusText();

  text.histogram(
    'gen_ai_client_operation_duration_seconds',
    'Duration of calls to AI providers.',
    series.flatMap((row) => {
      const labels = seriesLabels(row);
      return (
        [
          [labels, row.success],
          [{ ...labels, error_type: 'error' }, row.error],
          // The caller left: no error, but no success either.
          [{ ...labels, hub_outcome: 'aborted' }, row.aborted],
        ] as const
      ).filter(([, values]) => values.count > 0) as [Labels, Series['success']][];
    }),
  );
  text.histogram(
    'gen_ai_client_operation_time_to_first_chunk_seconds',
    'Time to the first chunk of streamed calls.',
    series.filter((row) => row.firstToken.count > 0).map((row) => [seriesLabels(row), row.firstToken]),
  );
  text.histogram(
    'gen_ai_client_token_usage',
    'Input and output tokens used.',
    series
      .filter((row) => row.input.count > 0)
      .flatMap((row) => [
        [{ ...seriesLabels(row), gen_ai_token_type: 'input' }, row.input],
        [{ ...seriesLabels(row), gen_ai_token_type: 'output' }, row.output],
      ]),
  );
  text.gauge('hub_ai_calls_in_flight', 'AI calls being answered now.', [[{}, usage.requests.inFlight]]);
  if (usage.cost !== undefined) {
    text.counter('hub_ai_cost_total', 'Cost of AI calls by the configured prices.', [[{}, usage.cost]]);
  }

  text.summary(
    'mcp_client_operation_duration_seconds',
    'Duration of tool calls.',
    servers.map((server) => [
      { ...serverLabels(server), mcp_method_name: 'tools/call' },
      {
        quantiles: [
          [0.5, seconds(server.latencyMs.p50)],
          [0.95, seconds(server.latencyMs.p95)],
          [0.99, seconds(server.latencyMs.p99)],
        ],
        sum: (seconds(server.latencyMs.avg) ?? 0) * server.invocations,
        count: server.invocations,
      },
    ]),
  );
  text.counter(
    'hub_mcp_tool_calls_total',
    'Tool calls by tool.',
    servers.flatMap((server) =>
      server.tools.map((tool): [Labels, number] => [
        { ...serverLabels(server), gen_ai_tool_name: tool.name },
        tool.invocations,
      ]),
    ),
  );
  text.counter(
    'hub_mcp_tool_errors_total',
    'Failed tool calls by class of error.',
    servers.flatMap((server) =>
      Object.entries(server.errors).map(([kind, count]): [Labels, number] => [
        { ...serverLabels(server), error_type: kind },
        count,
      ]),
    ),
  );
  text.gauge(
    'hub_mcp_server_healthy',
    'Whether the tool server answers.',
    servers.map((server) => [serverLabels(server), server.healthy ? 1 : 0]),
  );
  text.gauge(
    'hub_mcp_calls_in_flight',
    'Tool calls being answered now.',
    servers.map((server) => [serverLabels(server), server.inFlight]),
  );
  text.counter(
    'hub_mcp_restarts_total',
    'Connections made to a tool server after the first.',
    servers.map((server) => [serverLabels(server), server.restarts]),
  );

  text.counter(
    'hub_proxy_requests_total',
    'Proxied requests by status.',
    usage.proxies.flatMap((proxy) =>
      Object.entries(proxy.statuses).map(([status, count]): [Labels, number] => [
        { proxy: proxy.id, http_response_status_code: status },
        count,
      ]),
    ),
  );
  text.gauge('hub_counting_since_seconds', 'When the counters were last reset, since the epoch.', [
    [{}, Date.parse(usage.since) / 1000],
  ]);
  return text.toString();
}

function serverLabels(server: McpServerFacts): Labels {
  return {
    mcp_server: server.name,
    network_transport: NETWORK_TRANSPORTS[server.transport] ?? 'tcp',
  };
}

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
