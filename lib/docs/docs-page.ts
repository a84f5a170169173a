/**
 * The page of the API docs. The build puts the page of `admin-site/` in the place of this module; this one stands
 * where the hub's sources run unbuilt.
 */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Hub API</title>
</head>
<body>
<h1>Hub API</h1>
<p>The interactive page is built by <code>npm run build</code>. The document is in <code>openapi.json</code> below this
address.</p>
</body>
</html>
`;
