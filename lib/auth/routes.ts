import { sendJson } from '../http/json-response.ts';
import type { RouteGroup } from '../http/route.ts';
import type { SignOut } from './sign-out.ts';

export interface AuthRoutesDeps {
  signOut: SignOut;
}

/** `POST /auth/logout` (contract §4): public, because leaving must work for whoever is already out. */
export function createAuthRoutes({ signOut }: AuthRoutesDeps): RouteGroup {
  return {
    name: 'auth',
    prefixes: [],
    routes: [
      {
        method: 'POST',
        path: '/auth/logout',
        access: 'public',
        async handler(request, response) {
          const { ended, setCookie } = await signOut(request);
          request.hub.setCookie = setCookie;
          const message = ended ? 'Signed out' : 'There was no session to end';
          sendJson(response, 200, { success: true, message }, { 'cache-control': 'no-store' });
        },
      },
    ],
  };
}
