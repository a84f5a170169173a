import { createHash } from 'node:crypto';

/** A page for the person who has come back from the consent page. */
export interface CallbackPage {
  html: string;
  /** Value of Content-Security-Policy: the page may do nothing but show itself. */
  policy: string;
}

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}h1{font-size:1.4rem}code{overflow-wrap:anywhere}';
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

export function grantedPage(target: string): CallbackPage {
  return page('Access granted', [
    `The account <code>${escaped(target)}</code> is ready for uploads.`,
    'You can close this window.',
  ]);
}

export function refusedPage(message: string, hint: unknown): CallbackPage {
  return page(message, typeof hint === 'string' ? [escaped(hint)] : []);
}

function page(title: string, paragraphs: readonly string[]): CallbackPage {
  const body = paragraphs.map((text) => `<p>${text}</p>`).join('\n');
  return {
    policy: POLICY,
    html: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
<h1>${escaped(title)}</h1>
${body}
</html>
`,
  };
}

function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (char) => entities[char] as string);
}
