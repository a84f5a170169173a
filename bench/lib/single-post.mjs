/**
 * `node single-post.mjs <origin> <access token> <file>`: the library's own way, one POST of metadata and bytes
 * together. Prints the seconds that the call took, without the start of this process.
 */
import { createReadStream } from 'node:fs';
import { youtube_v3 } from 'googleapis/build/src/apis/youtube/v3.js';

const [origin, token, file] = process.argv.slice(2);
const api = new youtube_v3.Youtube({ rootUrl: `${origin}/` });
const begun = performance.now();
const { data } = await api.videos.insert(
  {
    part: ['snippet', 'status'],
    requestBody: { snippet: { title: 'Bench', categoryId: '22' }, status: { privacyStatus: 'private' } },
    media: { mimeType: 'video/mp4', body: createReadStream(file) },
  },
  { rootUrl: `${origin}/`, headers: { authorization: `Bearer ${token}` }, retry: false },
);
if (!data.id) throw new Error('no video came of it');
console.log(`seconds ${(performance.now() - begun) / 1000}`);
