import type { Config } from '../config/schema/config-schema.ts';
import { HubError, type HubErrorCode } from '../errors/hub-error.ts';
import type { Access } from '../http/route.ts';
import { VERSION } from '../process/version.ts';
import type { Answer, Body, Operation, OperationGroup } from './operation.ts';
import { adminOperations } from './operations/admin.ts';
import { aiOperations } from './operations/ai.ts';
import { healthOperations, hubSchemas, proxyOperations, sessionOperations } from './operations/hub.ts';
import { mcpOperations } from './operations/mcp.ts';
import { videoOperations } from './operations/video.ts';
import { adminSchemas } from './schemas/admin.ts';
import { aiSchemas } from './schemas/ai.ts';
import { commonSchemas } from './schemas/common.ts';
import { mcpSchemas } from './schemas/mcp.ts';
import { configSchemas } from './schemas/shown-config.ts';
import { usageSchemas } from './schemas/usage.ts';
import { videoSchemas } from './schemas/video.ts';

type Json = Record<string, unknown>;

/** Text of `docs/openapi.json`: the document of a hub with the paths of the defaults. */
export function renderDocument(): string {
  const healthCheck = { enabled: true, path: '/health', readinessPath: '/ready' };
  return `${JSON.stringify(openApiDocument({ version: VERSION, healthCheck, serverUrl: '/' }), null, 2)}\n`;
}

/** What the document says of a running hub. */
export interface DocumentFacts {
  version: string;
  healthCheck: Pick<Config['healthCheck'], 'enabled' | 'path' | 'readinessPath'>;
  /** Address of the hub, relative to that of the document. */
  serverUrl: string;
}

const SECURITY: Record<Access, readonly Json[]> = {
  // Main authentication may be off, and then nothing is needed.
  main: [{ bearer: [] }, { session: [] }, {}],
  admin: [{ adminKey: [] }],
  public: [],
};

/** Failures of whatever needs authentication. */
const ERRORS: Record<Access, readonly HubErrorCode[]> = {
  main: ['unauthorized', 'cross_site', 'rate_limited', 'identity_unavailable', 'overloaded'],
  admin: ['admin_unauthorized', 'admin_forbidden', 'rate_limited'],
  public: [],
};

/** The OpenAPI 3.1 document of the hub (contract §10). */
export function openApiDocument({ version, healthCheck, serverUrl }: DocumentFacts): Json {
  const groups: OperationGroup[] = [
    aiOperations,
    mcpOperations,
    videoOperations,
    proxyOperations,
    sessionOperations,
    adminOperations,
    ...(healthCheck.enabled ? [healthOperations(healthCheck)] : []),
  ];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hub',
      version,
      description:
        'One door in front of AI providers, tool servers, video accounts and your own services. Every answer carries `x-request-id`; every error has one shape.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    tags: groups.map(({ name, description }) => ({ name, description })),
    paths: pathsOf(groups),
    components: {
      schemas: {
        ...commonSchemas,
        ...aiSchemas,
        ...mcpSchemas,
        ...videoSchemas,
        ...hubSchemas,
        ...adminSchemas,
        ...usageSchemas,
        ...configSchemas,
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Main authentication, where it is on.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'hub.sid',
          description: 'A session begun by a bearer.',
        },
        adminKey: { type: 'apiKey', in: 'header', name: 'x-admin-key', description: 'An admin key.' },
      },
    },
  };
}

function pathsOf(groups: readonly OperationGroup[]): Record<string, Json> {
  const paths: Record<string, Json> = {};
  for (const { name, operations } of groups) {
    for (const operation of operations) {
      const item = paths[operation.path] ?? {};
      item[operation.method] = operationOf(operation, name);
      paths[operation.path] = item;
    }
  }
  return paths;
}

function operationOf(operation: Operation, tag: string): Json {
  const { method, path, summary, description, access, parameters, body } = operation;
  return {
    tags: [tag],
    operationId: `${method}${path.replaceAll(/[^a-zA-Z0-9]+(.?)/g, (_, next: string) => next.toUpperCase())}`,
    summary,
    ...(description && { description }),
    security: SECURITY[typeof access === 'string' ? access : 'main'],
    ...(parameters && {
      parameters: parameters.map(({ required = false, ...parameter }) => ({
        ...parameter,
        required,
        schema: { type: 'string' },
      })),
    }),
    ...(body && { requestBody: { required: body.required ?? false, content: contentOf([body]) } }),
    responses: responsesOf(operation),
  };
}

function responsesOf({ answers, errors = [], access }: Operation): Json {
  const responses: Record<string, Json> = {};
  for (const [status, answer] of Object.entries(answers)) responses[status] = responseOf(answer);
  for (const [status, codes] of byStatus([...new Set([...errors, ...ERRORS[access]])])) {
    responses[status] ??= responseOf({
      description: codes.join(', '),
      bodies: [{ contentType: 'application/json', schema: 'Error' }],
    });
  }
  return responses;
}

function byStatus(codes: readonly HubErrorCode[]): Map<number, HubErrorCode[]> {
  const statuses = new Map<number, HubErrorCode[]>();
  for (const code of codes) {
    const { status } = new HubError(code, '');
    statuses.set(status, [...(statuses.get(status) ?? []), code]);
  }
  return statuses;
}

const responseOf = ({ description, bodies }: Answer): Json => ({
  description,
  ...(bodies && { content: contentOf(bodies) }),
});

function contentOf(bodies: readonly Body[]): Json {
  return Object.fromEntries(
    bodies.map(({ contentType, schema }) => [
      contentType,
      { schema: schema === undefined ? { type: 'string' } : { $ref: `#/components/schemas/${schema}` } },
    ]),
  );
}
