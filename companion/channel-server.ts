import { timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import {
  createFrameReader,
  createFrameWriter,
  FRAME,
  splitHeaded,
} from '../lib/companion-client/channel/frames.ts';
import { ChannelRequest, ChannelResponse } from './channel-exchange.ts';

export interface ChannelServerDeps {
  /** Compared with the first frame of each connection. */
  token: string;
  answer(request: ChannelRequest, response: ChannelResponse): void;
}

export interface ChannelServer {
  server: Server;
  /** Cuts every call and closes every connection. */
  closeAllConnections(): void;
}

/** The companion's end of the private channel: turns frames into requests and responses of internal routes. */
export function createChannelServer({ token, answer }: ChannelServerDeps): ChannelServer {
  const expected = Buffer.from(token, 'latin1');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const open = new Map<number, ChannelResponse>();
    const writer = createFrameWriter(socket, () => open.size <= 1);
    const forget = (id: number) => void open.delete(id);
    let greeted = false;

    const read = createFrameReader((type, id, payload) => {
      if (!greeted) {
        greeted =
          type === FRAME.hello && payload.length === expected.length && timingSafeEqual(payload, expected);
        if (!greeted) throw new Error('The channel was opened with another token');
        return;
      }
      if (type === FRAME.call) {
        const { head, body } = splitHeaded(payload);
        const response = new ChannelResponse(writer, id, forget);
        open.set(id, response);
        answer(new ChannelRequest(head as string[], body), response);
      } else if (type === FRAME.abort) open.get(id)?.leave();
      else if (type === FRAME.credit) open.get(id)?.credit(payload.readUInt32LE(0));
    });
    sockets.add(socket);
    socket.on('data', (chunk) => {
      try {
        read(chunk);
      } catch {
        socket.destroy();
      }
    });
    // The reason shows at the other end; here it is only the end of the calls.
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      for (const response of open.values()) response.leave();
    });
  });
  return {
    server,
    closeAllConnections() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
