import { json, type Operation, type OperationGroup } from '../operation.ts';

const SECTIONS = {
  targets: 'Targets',
  proxies: 'Proxies',
  mcp: 'Mcp',
  auth: 'Auth',
  hub: 'Hub',
} as const;

export const adminOperations: OperationGroup = {
  name: 'Admin',
  description: 'Numbers, state and configuration, with keys of their own. No answer holds a secret.',
  operations: [
    {
      method: 'get',
      path: '/admin/panel',
      summary: 'Open the panel',
      access: 'public',
      answers: { 200: { description: 'A page.', bodies: [{ contentType: 'text/html' }] } },
    },
    {
      method: 'get',
      path: '/admin/runtime',
      summary: 'Show everything at once',
      description: 'While AI-Link is down `runtimeUsage` is null, and `companion` says more.',
      access: 'admin',
      answers: { 200: json('Process, configuration, usage, tool servers.', 'Runtime') },
    },
    {
      method: 'get',
      path: '/admin/runtime/usage',
      summary: 'Show the usage counters',
      access: 'admin',
      answers: { 200: json('Since the start or the last reset.', 'RuntimeUsage') },
      errors: ['ailink_unavailable'],
    },
    {
      method: 'post',
      path: '/admin/runtime/reset',
      summary: 'Reset the counters',
      access: 'admin',
      answers: { 200: json('They begin at zero.', 'Done') },
      errors: ['ailink_unavailable'],
    },
    {
      method: 'get',
      path: '/admin/config',
      summary: 'Show the configuration',
      access: 'admin',
      answers: { 200: json('Effective and redacted.', 'Config') },
    },
    ...Object.entries(SECTIONS).map(
      ([name, schema]): Operation => ({
        method: 'get',
        path: `/admin/config/${name}`,
        summary: `Show the section ${name}`,
        access: 'admin',
        answers: { 200: json('The section, bare.', schema) },
      }),
    ),
    {
      method: 'get',
      path: '/metrics',
      summary: 'Show metrics for Prometheus',
      description: 'The admin key may come as a bearer, for scrapers.',
      access: 'admin',
      answers: { 200: { description: 'Metrics.', bodies: [{ contentType: 'text/plain' }] } },
      errors: ['ailink_unavailable'],
    },
  ],
};
