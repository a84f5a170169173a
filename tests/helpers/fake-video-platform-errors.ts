/** Body of an error of the Data API, in its old list and its new form, with the markup that real messages have. */
export function apiError(status: number, reason: string, message?: string): string {
  const text =
    message ?? `The request failed: <a href="/youtube/v3/docs/errors#${reason}">${reason}</a> applies to it.`;
  return JSON.stringify({
    error: { code: status, message: text, errors: [{ message: text, domain: 'youtube.video', reason }] },
  });
}
