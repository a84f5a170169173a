/**
 * The panel's page. The build puts the page of `admin-site/` in the place of this module; this one stands where the
 * hub's sources run unbuilt.
 */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Hub admin</title>
</head>
<body>
<h1>Hub admin</h1>
<p>The panel is built by <code>npm run build</code>. What it shows is at <code>/admin/runtime</code>, with an admin key
in the header <code>x-admin-key</code>.</p>
</body>
</html>
`;
