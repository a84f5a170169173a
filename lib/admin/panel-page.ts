/** The panel's page: public, without data (contract §8). What it shows it asks for with the key typed into it. */
export const panelPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hub admin</title>
</head>
<body>
<main>
<h1>Hub admin</h1>
<p>The graphical panel is not part of this build. Everything that it would show is at these addresses,
with an admin key in the header <code>x-admin-key</code>:</p>
<ul>
<li><code>GET /admin/runtime</code>: process, configuration summary, usage, tool servers</li>
<li><code>GET /admin/runtime/usage</code>: usage counters only</li>
<li><code>POST /admin/runtime/reset</code>: clears the counters</li>
<li><code>GET /admin/config</code>, and its sections <code>/targets</code>, <code>/proxies</code>,
<code>/mcp</code>, <code>/auth</code> and <code>/hub</code>: the configuration without its secrets</li>
<li><code>GET /metrics</code>: Prometheus text</li>
</ul>
</main>
</body>
</html>
`;
