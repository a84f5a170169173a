import { type Static, Type } from '@sinclair/typebox';
import { authSection } from './auth.ts';
import { section } from './build.ts';
import { healthCheckSection, hubSection, proxySchema, swaggerSection, validationSection } from './hub.ts';
import { loggingSection } from './logging.ts';
import { targetSchema } from './targets.ts';
import { hubToolSchema, mcpSection } from './tools.ts';
import { videohostSection } from './videohost.ts';

/**
 * The whole of `config.yaml`, declared once: TypeScript type, defaults, validation and
 * `docs/configuration.md` all come from here (spec §2, contract §2).
 */
export const configSchema = section({
  validation: validationSection,
  hub: hubSection,
  targets: Type.Array(targetSchema, { default: [], description: 'AI targets.' }),
  proxies: Type.Array(proxySchema, { default: [], description: 'Reverse proxies.' }),
  tools: Type.Array(hubToolSchema, {
    default: [],
    description: 'HTTP APIs offered as tools of the server `hub`.',
  }),
  mcp: mcpSection,
  videohost: Type.Optional(videohostSection),
  auth: authSection,
  healthCheck: healthCheckSection,
  swagger: swaggerSection,
  logging: loggingSection,
});

/** The effective configuration: substituted, defaults filled, validated. */
export type Config = Static<typeof configSchema>;
