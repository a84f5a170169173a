import { createHash, type Hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiError } from './fake-video-platform-errors.ts';
import { createFakeIdentity, type FakeIdentity } from './fake-video-platform-identity.ts';

/**
 * The video platform and its identity provider, as their documents describe them: OAuth 2.0 with PKCE, resumable
 * uploads with ranges, thumbnails, playlists and captions. It refuses what they would refuse, keeps what was
 * published, and does wrong on command.
 */
export interface FakeVideoPlatform {
  url: string;
  identity: FakeIdentity;
  /** Published videos, in order. */
  videos: FakeVideo[];
  /** Sessions that were opened and are still alive. */
  sessions: Map<string, FakeSession>;
  /** Every request to the API so far. */
  requests: FakeRequest[];
  /** Faults to come; each is used up by the first request that it fits. */
  faults: FakeFault[];
  /** What the platform does to every video that is not private, as for projects without an audit. */
  forcesPrivate: boolean;
  /** Whether a chunk waits here until released. */
  hold(): { waiting: () => number; release: () => void };
  /** Configuration of a hub with one account that uses this platform. */
  videohost(options?: object): Record<string, unknown>;
  close(): Promise<void>;
}

export interface FakeVideo {
  id: string;
  sha256: string;
  bytes: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what was sent
  metadata: any;
  contentType: string;
  notifySubscribers: string | null;
  thumbnail?: { type: string; bytes: Buffer };
  captions?: { language: string; text: string };
  playlists: string[];
}

export interface FakeRequest {
  kind: RequestKind;
  range?: string | undefined;
  status?: number;
  token?: string | undefined;
}

export type RequestKind =
  | 'single'
  | 'open'
  | 'chunk'
  | 'query'
  | 'cancel'
  | 'thumbnail'
  | 'playlist'
  | 'captions';

/** Something that goes wrong once, or `times` times. */
export interface FakeFault {
  on: RequestKind;
  /** Only for chunks: the first byte that the chunk must reach. */
  from?: number;
  /** Uses; default 1. */
  times?: number;
  /** Requests of this kind that pass before it. */
  after?: number;
  do:
    | { answer: number; reason?: string; message?: string; headers?: Record<string, string> }
    /** Resets the connection after so many bytes of the chunk; those may be kept or lost. */
    | { resetAfter: number; keep: boolean }
    /** Keeps only so many bytes of the chunk, and says so. */
    | { keepOnly: number }
    /** Takes everything, then the answer is lost. */
    | 'lose-answer'
    /** The session is gone from now on. */
    | 'forget-session'
    /** No answer at all. */
    | 'silence'
    /** Runs, then goes on as if nothing were. */
    | (() => void);
}

export interface FakeSession {
  id: string;
  received: number;
  hash: Hash;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what was sent
  metadata: any;
  contentType: string;
  announced: number | undefined;
  notifySubscribers: string | null;
  video?: FakeVideo;
}

const UNIT = 256 * 1024;

export const ACCOUNT = {
  id: 'main',
  client_id: 'client-id-0001.apps.example',
  client_secret: 'client-secret-0123456789',
};

/** Starts a platform on a free port. */
export async function openFakeVideoPlatform(
  options: { port?: number; keepsHash?: boolean } = {},
): Promise<FakeVideoPlatform> {
  const { keepsHash = true } = options;
  const identity = createFakeIdentity(ACCOUNT);
  const videos: FakeVideo[] = [];
  const sessions = new Map<string, FakeSession>();
  const requests: FakeRequest[] = [];
  const faults: FakeFault[] = [];
  const holds = new Set<{ waiting: Set<() => void>; isOpen: boolean }>();

  const server: Server = createServer((request, response) => {
    response.on('error', () => {});
    handle(request, response).catch((error) => {
      if (!response.headersSent && !response.destroyed) {
        response.writeHead(500, { 'content-type': 'application/json' });
        response.end(apiError(500, 'backendError', String(error)));
      }
    });
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', url);
    if (await identity.handle(request, response, pathname, query)) return;
    const kind = kindOf(request, pathname, query);
    if (kind === undefined) return refuse(response, 404, 'notFound');
    const entry: FakeRequest = {
      kind,
      range: request.headers['content-range'],
      token: /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1],
    };
    requests.push(entry);
    response.once('close', () => {
      if (response.headersSent) entry.status = response.statusCode;
    });
    const fault = takeFault(kind, request.headers['content-range'], query.get('upload_id'));
    const act = fault?.do;
    if (typeof act === 'function') act();
    if (act === 'silence') return;
    if (typeof act === 'object' && 'answer' in act) {
      await drain(request);
      return refuse(response, act.answer, act.reason ?? 'backendError', act.message, act.headers);
    }
    const refusal = identity.refusalOf(entry.token, kind);
    if (refusal !== undefined) {
      await drain(request);
      return refuse(response, refusal.status, refusal.reason, refusal.message);
    }
    switch (kind) {
      case 'open':
        return openSession(request, response, query);
      case 'single':
        return takeWhole(request, response, query);
      case 'thumbnail':
        return setThumbnail(request, response, query);
      case 'playlist':
        return addToPlaylist(request, response);
      case 'captions':
        return addCaptions(request, response);
      default:
        return useSession(kind, request, response, query, act);
    }
  }

  function takeFault(
    kind: RequestKind,
    range: string | undefined,
    sessionId: string | null,
  ): FakeFault | undefined {
    const end = Number(/^bytes \d+-(\d+)\//.exec(range ?? '')?.[1] ?? -1);
    for (const fault of faults) {
      if (fault.on !== kind || (fault.from !== undefined && end < fault.from)) continue;
      if ((fault.after ?? 0) > 0) {
        fault.after = (fault.after ?? 0) - 1;
        continue;
      }
      fault.times = (fault.times ?? 1) - 1;
      if (fault.times <= 0) faults.splice(faults.indexOf(fault), 1);
      if (fault.do === 'forget-session' && sessionId !== null) sessions.delete(sessionId);
      return fault;
    }
    return undefined;
  }

  async function openSession(
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
  ): Promise<void> {
    const metadata = parse(await text(request));
    const fault = metadataFault(metadata, query);
    if (fault !== undefined) return refuse(response, 400, fault);
    const announced = request.headers['x-upload-content-length'];
    const session: FakeSession = {
      id: randomBytes(12).toString('hex'),
      received: 0,
      hash: createHash('sha256'),
      metadata,
      contentType: String(request.headers['x-upload-content-type'] ?? ''),
      announced: announced === undefined ? undefined : Number(announced),
      notifySubscribers: query.get('notifySubscribers'),
    };
    sessions.set(session.id, session);
    response.writeHead(200, {
      location: `${url}/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status&upload_id=${session.id}`,
      'content-length': 0,
    });
    response.end();
  }

  /** The platform's other way: metadata and video in one request (multipart/related). The bytes are only counted. */
  async function takeWhole(
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
  ): Promise<void> {
    const boundary = /boundary="?([^";]+)/.exec(String(request.headers['content-type']))?.[1] ?? '';
    let head = '';
    let bytes = 0;
    let metadata: unknown;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (metadata !== undefined) continue;
      head += chunk.toString('latin1');
      const [, json = '', videoHead] = head.split('\r\n\r\n', 3).length === 3 ? head.split('\r\n\r\n') : [];
      if (videoHead === undefined) continue;
      metadata = parse(json.slice(0, json.lastIndexOf('}') + 1));
      bytes -= head.split('\r\n\r\n').slice(0, 2).join('\r\n\r\n').length + 4;
    }
    const fault = metadataFault(metadata, query);
    if (fault !== undefined) return refuse(response, 400, fault);
    const session: FakeSession = {
      id: '',
      received: bytes - `\r\n--${boundary}--`.length,
      hash: createHash('sha256'),
      metadata,
      contentType: '',
      announced: undefined,
      notifySubscribers: null,
    };
    return publish(session, response);
  }

  async function useSession(
    kind: RequestKind,
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
    act: FakeFault['do'] | undefined,
  ): Promise<void> {
    const { socket } = request;
    const session = sessions.get(query.get('upload_id') ?? '');
    if (session === undefined) {
      await drain(request);
      return refuse(response, 404, 'notFound');
    }
    if (kind === 'cancel') {
      if (session.video === undefined) sessions.delete(session.id);
      response.writeHead(499, { 'content-length': 0 });
      response.end();
      return;
    }
    if (session.video !== undefined) {
      await drain(request);
      return publish(session, response);
    }
    const range = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(request.headers['content-range'] ?? '');
    if (range === null) return refuse(response, 400, 'badRequest', 'Content-Range is malformed');
    const total = range[3] === '*' ? undefined : Number(range[3]);
    if (kind === 'chunk') {
      const [start, end] = [Number(range[1]), Number(range[2])];
      const fault = rangeFault(session, request, start, end, total);
      if (fault !== undefined) {
        await drain(request);
        return refuse(response, 400, 'badRequest', fault);
      }
      const isKept = await takeChunk(session, request, act, end - start + 1);
      if (!isKept) {
        socket.resetAndDestroy();
        return;
      }
    }
    await heldBack();
    if (session.received === total) {
      if (act === 'lose-answer') {
        finish(session);
        socket.resetAndDestroy();
        return;
      }
      return publish(session, response);
    }
    if (act === 'lose-answer') {
      socket.resetAndDestroy();
      return;
    }
    response.writeHead(308, {
      'content-length': 0,
      ...(session.received > 0 && { range: `bytes=0-${session.received - 1}` }),
    });
    response.end();
  }

  /** Reads a chunk into its session; false where the connection is to break. */
  async function takeChunk(
    session: FakeSession,
    request: IncomingMessage,
    act: FakeFault['do'] | undefined,
    length: number,
  ): Promise<boolean> {
    const reset = typeof act === 'object' && 'resetAfter' in act ? act : undefined;
    const limit =
      reset !== undefined
        ? reset.resetAfter
        : typeof act === 'object' && 'keepOnly' in act
          ? act.keepOnly
          : length;
    const keeps = reset?.keep !== false;
    let taken = 0;
    if (reset !== undefined && limit === 0) return false;
    // To leave the loop early must not close the connection in an orderly way.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      const part = chunk.subarray(0, Math.max(0, limit - taken));
      taken += part.length;
      if (keeps && part.length > 0) {
        if (keepsHash) session.hash.update(part);
        session.received += part.length;
      }
      if (reset !== undefined && taken >= limit) return false;
    }
    return reset === undefined;
  }

  function finish(session: FakeSession): FakeVideo {
    if (session.video !== undefined) return session.video;
    const metadata = session.metadata;
    if (platform.forcesPrivate) metadata.status = { ...metadata.status, privacyStatus: 'private' };
    const video: FakeVideo = {
      id: `video-${videos.length + 1}-${randomBytes(3).toString('hex')}`,
      sha256: keepsHash ? session.hash.digest('hex') : '',
      bytes: session.received,
      metadata,
      contentType: session.contentType,
      notifySubscribers: session.notifySubscribers,
      playlists: [],
    };
    session.video = video;
    videos.push(video);
    return video;
  }

  function publish(session: FakeSession, response: ServerResponse): void {
    const { id, metadata } = finish(session);
    sendJson(response, 200, {
      kind: 'youtube#video',
      id,
      snippet: metadata.snippet,
      status: metadata.status,
    });
  }

  async function setThumbnail(
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
  ): Promise<void> {
    const bytes = await bytesOf(request);
    const video = videos.find(({ id }) => id === query.get('videoId'));
    if (video === undefined) return refuse(response, 404, 'videoNotFound');
    const type = String(request.headers['content-type']);
    if (bytes.length > 2 * 1024 * 1024) return refuse(response, 413, 'uploadTooLarge');
    if (!/^image\/(jpeg|png)$/.test(type)) return refuse(response, 400, 'invalidImage');
    video.thumbnail = { type, bytes };
    sendJson(response, 200, { kind: 'youtube#thumbnailSetResponse', items: [] });
  }

  async function addToPlaylist(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { snippet } = parse(await text(request));
    const video = videos.find(({ id }) => id === snippet?.resourceId?.videoId);
    if (video === undefined) return refuse(response, 404, 'videoNotFound');
    if (snippet.playlistId === 'PL-missing') return refuse(response, 404, 'playlistNotFound');
    video.playlists.push(snippet.playlistId);
    sendJson(response, 200, { kind: 'youtube#playlistItem', id: 'item' });
  }

  async function addCaptions(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const boundary = /boundary=([^;]+)/.exec(String(request.headers['content-type']))?.[1] ?? '';
    const parts = (await text(request)).split(`--${boundary}`);
    const [resource = '', body = ''] = parts
      .slice(1, 3)
      .map((part) => part.split('\r\n\r\n').slice(1).join('\r\n\r\n').replace(/\r\n$/, ''));
    const { snippet } = parse(resource);
    const video = videos.find(({ id }) => id === snippet?.videoId);
    if (video === undefined) return refuse(response, 404, 'videoNotFound');
    video.captions = { language: snippet.language, text: body };
    sendJson(response, 200, { kind: 'youtube#caption', id: 'caption' });
  }

  async function heldBack(): Promise<void> {
    // A copy: whoever is released here must not wait for what is held from then on.
    for (const hold of [...holds]) {
      if (!hold.isOpen) await new Promise<void>((resolve) => hold.waiting.add(resolve));
    }
  }

  const platform: FakeVideoPlatform = {
    url,
    identity,
    videos,
    sessions,
    requests,
    faults,
    forcesPrivate: false,
    hold() {
      const held = { waiting: new Set<() => void>(), isOpen: false };
      holds.add(held);
      return {
        waiting: () => held.waiting.size,
        release() {
          held.isOpen = true;
          holds.delete(held);
          for (const resume of held.waiting) resume();
        },
      };
    },
    videohost: (more = {}) => ({
      accounts: [
        {
          ...ACCOUNT,
          redirect_uri: `http://127.0.0.1:3000/videohost/auth/idp/callback?target=${ACCOUNT.id}`,
        },
      ],
      endpoints: {
        authorize: `${url}/o/oauth2/v2/auth`,
        token: `${url}/token`,
        revoke: `${url}/revoke`,
        api: url,
      },
      ...more,
    }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return platform;
}

function kindOf(request: IncomingMessage, path: string, query: URLSearchParams): RequestKind | undefined {
  const { method } = request;
  if (path === '/upload/youtube/v3/videos') {
    if (method === 'POST') return query.get('uploadType') === 'resumable' ? 'open' : 'single';
    if (method === 'DELETE') return 'cancel';
    if (method === 'PUT') return /^bytes \*/.test(request.headers['content-range'] ?? '') ? 'query' : 'chunk';
    return undefined;
  }
  if (method !== 'POST') return undefined;
  if (path === '/upload/youtube/v3/thumbnails/set') return 'thumbnail';
  if (path === '/youtube/v3/playlistItems') return 'playlist';
  return path === '/upload/youtube/v3/captions' ? 'captions' : undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: a body of any shape is what is judged
function metadataFault(metadata: any, query: URLSearchParams): string | undefined {
  // Lists of the API may be one value with commas, or several values.
  const parts = query.getAll('part').join().split(',').sort().join();
  const given = Object.keys(metadata ?? {})
    .sort()
    .join();
  if (parts !== given) return 'unexpectedPart';
  const { snippet, status } = metadata;
  if (typeof snippet?.title !== 'string' || snippet.title === '' || [...snippet.title].length > 100) {
    return 'invalidTitle';
  }
  if (/[<>]/.test(snippet.title)) return 'invalidTitle';
  if (Buffer.byteLength(snippet.description ?? '') > 5000) return 'invalidDescription';
  if ((snippet.tags ?? []).join(',').length > 500) return 'invalidTags';
  if (!/^\d+$/.test(snippet.categoryId ?? '')) return 'invalidCategoryId';
  if (!['public', 'unlisted', 'private'].includes(status?.privacyStatus)) return 'invalidVideoMetadata';
  if (status.publishAt !== undefined && status.privacyStatus !== 'private') return 'invalidPublishAt';
  return undefined;
}

function rangeFault(
  session: FakeSession,
  request: IncomingMessage,
  start: number,
  end: number,
  total: number | undefined,
): string | undefined {
  const length = end - start + 1;
  if (Number(request.headers['content-length']) !== length) return 'the range and the length differ';
  if (start !== session.received) return `the range begins at ${start}, ${session.received} is expected`;
  if (total !== undefined && end >= total) return 'the range ends past the total';
  if (session.announced !== undefined && total !== undefined && total !== session.announced) {
    return 'the total is not what was announced';
  }
  if (end + 1 !== total && length % UNIT !== 0) return 'a chunk must be a multiple of 256 KiB';
  return undefined;
}

function refuse(
  response: ServerResponse,
  status: number,
  reason: string,
  message?: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8', ...headers });
  response.end(apiError(status, reason, message));
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
  response.end(JSON.stringify(body));
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function text(request: IncomingMessage): Promise<string> {
  return (await bytesOf(request)).toString('utf8');
}

async function drain(request: IncomingMessage): Promise<void> {
  for await (const _chunk of request) {
    // Read away.
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a body of any shape
function parse(body: string): any {
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
}
