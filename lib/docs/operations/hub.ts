import { Type } from '@sinclair/typebox';
import { json, type Operation, type OperationGroup, type Parameter } from '../operation.ts';
import { answer, oneOf } from '../schemas/vocabulary.ts';

export const hubSchemas = {
  Alive: answer({ status: oneOf(['ok']) }),
  Ready: answer({ status: oneOf(['ready']) }),
  Unavailable: answer({ status: oneOf(['unavailable']), error: Type.String() }),
};

/** @param paths of the two health endpoints, which the configuration chooses */
export const healthOperations = (paths: { path: string; readinessPath: string }): OperationGroup => ({
  name: 'Health',
  description: 'For load balancers and orchestrators.',
  operations: [
    {
      method: 'get',
      path: paths.path,
      summary: 'Is the process alive?',
      access: 'public',
      answers: { 200: json('It answers.', 'Alive') },
    },
    {
      method: 'get',
      path: paths.readinessPath,
      summary: 'Can it serve?',
      access: 'public',
      answers: {
        200: json('AI-Link answers too.', 'Ready'),
        503: json('It does not, or the hub is shutting down.', 'Unavailable'),
      },
    },
  ],
});

export const sessionOperations: OperationGroup = {
  name: 'Session',
  description: 'A bearer starts a session; its cookie may then stand in for it.',
  operations: [
    {
      method: 'post',
      path: '/auth/logout',
      summary: 'End the session',
      access: 'public',
      answers: { 200: json('There is none any more.', 'Done') },
    },
  ],
};

const rest: Parameter = {
  in: 'path',
  name: 'rest',
  description: 'Path behind the base address of the proxy, slashes included.',
  required: true,
};

/** Proxies take every method; OpenAPI wants them one by one. */
export const proxyOperations: OperationGroup = {
  name: 'Proxies',
  description:
    'Services behind the hub. Methods, queries, bodies and statuses pass as they are; the shorter form `/proxy/{rest}` takes the proxy from `x-target`.',
  operations: (['get', 'post', 'put', 'patch', 'delete'] as const).map(
    (method): Operation => ({
      method,
      path: '/proxy/{id}/{rest}',
      summary: `${method.toUpperCase()} through a proxy`,
      access: 'main',
      parameters: [{ in: 'path', name: 'id', description: 'Id of the proxy.', required: true }, rest],
      answers: { 200: { description: 'Whatever the service answers, under its own status.' } },
      errors: ['proxy_not_found', 'upstream_unavailable', 'upstream_timeout', 'overloaded'],
    }),
  ),
};
