import type { ToolFailure } from './failure.ts';
import { type ClientCapabilities, initialize, type ServerIntroduction } from './handshake.ts';
import type { SchemaCompiler } from './input-schema.ts';
import { createRpcClient, type RpcClient } from './rpc-client.ts';
import { readToolCatalog, type ToolCatalog } from './tool-catalog.ts';
import type { TransportFactory } from './transports/transport.ts';

export interface OpenServerDeps {
  transport: TransportFactory;
  compiler: SchemaCompiler;
  version: string;
  capabilities: ClientCapabilities;
  note(message: string): void;
}

/** A connection that calls may use: initialized, its tools known. */
export interface OpenServer {
  client: RpcClient;
  introduction: ServerIntroduction;
  catalog: ToolCatalog;
  /** Tells what happens from now on, and at once what has happened since the client was made. */
  watch(listener: OpenServerListener): void;
  /** Rejects what is in flight with the reason, and frees everything; never rejects itself. */
  end(reason: ToolFailure): Promise<void>;
}

export interface OpenServerListener {
  /** The connection is gone by itself. */
  lost(failure: ToolFailure): void;
  /** The server has announced other tools. */
  toolsChanged(): void;
}

const NO_TOOLS: ToolCatalog = { tools: new Map(), invalid: [] };

/**
 * One attempt: opens the transport, shakes hands and reads the whole tool list. A server whose list cannot be read
 * is not connected.
 *
 * @param ending takes the end of an attempt that failed, which goes on after the rejection
 * @throws ToolFailure
 */
export async function openServer(
  deps: OpenServerDeps,
  signal: AbortSignal,
  ending: (closing: Promise<void>) => void,
): Promise<OpenServer> {
  let listener: OpenServerListener | undefined;
  let lost: ToolFailure | undefined;
  let isOutdated = false;
  const client = createRpcClient({
    transport: deps.transport,
    notification(method) {
      if (method !== 'notifications/tools/list_changed') return;
      isOutdated = true;
      listener?.toolsChanged();
    },
    closed(failure) {
      lost = failure;
      listener?.lost(failure);
    },
    note: deps.note,
  });
  try {
    await client.transport.open(signal);
    const introduction = await initialize(client, deps.version, deps.capabilities, signal);
    const catalog = introduction.offersTools
      ? await readToolCatalog(client, deps.compiler, signal)
      : NO_TOOLS;
    signal.throwIfAborted();
    return {
      client,
      introduction,
      catalog,
      watch(given) {
        listener = given;
        if (lost !== undefined) given.lost(lost);
        else if (isOutdated) given.toolsChanged();
      },
      end(reason) {
        client.abandon(reason);
        return client.transport.close();
      },
    };
  } catch (error) {
    ending(client.transport.close());
    throw error;
  }
}
