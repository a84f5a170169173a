import type { IncomingMessage } from 'node:http';
import { HubError } from '../errors/hub-error.ts';
import { pathOf, segmentsOf, suspectForms } from './request-target.ts';
import type { Access, AccessOf, Route, RouteGroup, RouteHandler } from './route.ts';

/** Decoded parameters of a path. */
export type PathParams = Record<string, string | string[]>;

export interface CompiledRoute {
  method: Route['method'];
  access: Access | AccessOf;
  handler: RouteHandler;
}

/** A path that exists. */
export interface Endpoint {
  /** What it answers: routes by method, `ALL` among them. HEAD finds the route of GET. */
  route(method: string): CompiledRoute | undefined;
  /** Value of the `Allow` header. */
  allow: string;
  /** Somebody without credentials may use some method here, so that they may learn about the others. */
  isPublic: boolean;
  params: PathParams | undefined;
}

export interface RouteTable {
  /**
   * The endpoint of a request target, undefined when no route knows its path.
   * @throws HubError `invalid_request` when the path's percent-encoding is malformed.
   */
  find(target: string): Endpoint | undefined;
  /** Who may learn that a path does not exist. */
  accessOfUnknown(target: string): Access;
}

/** Who may use a route, for this request. */
export function accessOf(route: CompiledRoute, request: IncomingMessage): Access {
  return typeof route.access === 'function' ? route.access(request) : route.access;
}

/** Whether requests of a route take a place: health, admin and public pages never wait for one. */
export function isLimited(route: CompiledRoute): boolean {
  return route.access === 'main' || typeof route.access === 'function';
}

type Segment = { kind: 'literal' | 'parameter' | 'rest'; text: string };
interface Pattern {
  segments: Segment[];
  methods: Map<string, CompiledRoute>;
}

const SPECIFICITY = { literal: '0', parameter: '1', rest: '2' } as const;
const ALL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Compiles route groups into one table. Literal paths, which are nearly all, are found by one lookup.
 * @throws Error when two routes claim the same method and path, or a route has no access.
 */
export function createRouteTable(groups: readonly RouteGroup[]): RouteTable {
  const prefixes = groups
    .flatMap((group) => group.prefixes)
    .map(({ path, access }) => ({ path: path.toLowerCase(), access }))
    .sort((a, b) => b.path.length - a.path.length);
  const patterns = compilePatterns(groups, (path) => prefixAccess(prefixes, path.toLowerCase()));
  const byFirst = groupByFirst(patterns);
  const literals = new Map<string, Endpoint>();
  for (const { segments } of patterns) {
    if (segments.some(({ kind }) => kind !== 'literal')) continue;
    const names = segments.map(({ text }) => text);
    const endpoint = match(patterns, names);
    if (endpoint !== undefined) literals.set(`/${names.join('/')}`, endpoint);
  }

  return {
    find(target) {
      const path = pathOf(target);
      const known = literals.get(path);
      if (known !== undefined) return known;
      const segments = segmentsOf(path);
      if (segments === undefined) {
        throw new HubError('invalid_request', 'The path is not valid percent-encoded UTF-8');
      }
      return match(byFirst(segments[0] ?? ''), segments);
    },
    accessOfUnknown(target) {
      const forms = suspectForms(pathOf(target)).map((form) => prefixAccess(prefixes, form) ?? 'public');
      return forms.find((access) => access !== 'public') ?? 'public';
    },
  };
}

function prefixAccess(prefixes: RouteGroup['prefixes'], path: string): Access | undefined {
  return prefixes.find((prefix) => path === prefix.path || path.startsWith(`${prefix.path}/`))?.access;
}

/** All patterns, the most specific first. */
function compilePatterns(
  groups: readonly RouteGroup[],
  accessOf: (path: string) => Access | undefined,
): Pattern[] {
  const patterns = new Map<string, Pattern>();
  for (const route of groups.flatMap((group) => group.routes)) {
    const access = route.access ?? accessOf(route.path);
    if (access === undefined)
      throw new Error(`Route ${route.path} has no access and no prefix that gives it one`);
    const segments = parsePattern(route.path);
    const key = segments.map(({ kind, text }) => (kind === 'literal' ? `/${text}` : `/${kind}`)).join('');
    const pattern = patterns.get(key) ?? { segments, methods: new Map() };
    if (pattern.methods.has(route.method)) throw new Error(`Two routes for ${route.method} ${route.path}`);
    pattern.methods.set(route.method, { method: route.method, access, handler: route.handler });
    patterns.set(key, pattern);
  }
  const rank = ({ segments }: Pattern) => segments.map(({ kind }) => SPECIFICITY[kind]).join('');
  return [...patterns.values()].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** The patterns that a path with this first segment may fit, in their order: most paths share it with a few only. */
function groupByFirst(patterns: readonly Pattern[]): (first: string) => readonly Pattern[] {
  const isOpen = ({ segments }: Pattern) => segments[0]?.kind !== 'literal';
  const open = patterns.filter(isOpen);
  const names = new Set(
    patterns.filter((pattern) => !isOpen(pattern)).map(({ segments }) => segments[0]?.text),
  );
  const groups = new Map(
    [...names].map((name) => [
      name,
      patterns.filter((pattern) => isOpen(pattern) || pattern.segments[0]?.text === name),
    ]),
  );
  return (first) => groups.get(first) ?? open;
}

function parsePattern(path: string): Segment[] {
  if (!path.startsWith('/') || /[{}()[\]?+!]/.test(path)) throw new Error(`Unsupported route path ${path}`);
  const texts = path.split('/').slice(1);
  if (texts.at(-1) === '') texts.pop();
  return texts.map((text, index) => {
    if (text.startsWith(':')) return { kind: 'parameter', text: text.slice(1) };
    if (!text.startsWith('*')) return { kind: 'literal', text };
    if (index !== texts.length - 1) throw new Error(`The rest must be the end of the route path ${path}`);
    return { kind: 'rest', text: text.slice(1) };
  });
}

/** Merges every pattern that knows the path: a method of a broader one answers where a narrower one has none. */
function match(patterns: readonly Pattern[], path: readonly string[]): Endpoint | undefined {
  const matches = patterns.flatMap((pattern) => {
    const params = paramsOf(pattern.segments, path);
    return params === undefined ? [] : [{ methods: pattern.methods, params }];
  });
  const [first, ...broader] = matches;
  if (first === undefined) return undefined;
  if (broader.length === 0) return endpointOf(first.methods, first.params);
  const routes = new Map<string, CompiledRoute>();
  for (const { methods } of matches) {
    // An ALL of a narrower pattern covers what a broader one offers by name.
    if (routes.has('ALL')) break;
    for (const [method, route] of methods) if (!routes.has(method)) routes.set(method, route);
  }
  return endpointOf(routes, Object.assign({}, ...matches.map(({ params }) => params)));
}

function endpointOf(methods: ReadonlyMap<string, CompiledRoute>, params: PathParams): Endpoint {
  const all = methods.get('ALL');
  const named = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return {
    route: (method) => methods.get(method) ?? (method === 'HEAD' ? methods.get('GET') : undefined) ?? all,
    isPublic: [...methods.values()].some(({ access }) => access === 'public'),
    allow: (all === undefined ? [...named, 'OPTIONS'] : ALL_METHODS).join(', '),
    params: Object.keys(params).length === 0 ? undefined : params,
  };
}

function paramsOf(segments: readonly Segment[], path: readonly string[]): PathParams | undefined {
  const last = segments.at(-1);
  const fits = last?.kind === 'rest' ? path.length >= segments.length - 1 : path.length === segments.length;
  if (!fits) return undefined;
  const params: PathParams = Object.create(null);
  for (const [index, { kind, text }] of segments.entries()) {
    const segment = path[index] ?? '';
    if (kind === 'literal' && segment !== text) return undefined;
    if (kind === 'parameter') {
      if (segment === '') return undefined;
      params[text] = segment;
    }
    if (kind === 'rest') params[text] = path.slice(index);
  }
  return params;
}
