/** The HTML of the start page, and what is in the head of every page. */

const PAW =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="#c2571a"><ellipse cx="16" cy="22" rx="8" ry="7"/><circle cx="5" cy="15" r="3.5"/><circle cx="12" cy="8" r="3.5"/><circle cx="20" cy="8" r="3.5"/><circle cx="27" cy="15" r="3.5"/></svg>';

export const HEAD = `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(PAW)}">`;

/** At `/`. */
export const START_PAGE = `<!doctype html>
<html lang="en">
<head>
${HEAD}
<title>Petstore</title>
<style>
:root { color-scheme: light dark; font: 1.125rem/1.6 system-ui, sans-serif }
body { max-width: 36rem; margin: 12vh auto; padding: 0 1.5rem; background: light-dark(#fff, #161616); color: light-dark(#222, #ddd) }
svg { width: 3.5rem }
h1 { margin: 0; line-height: 1.2 }
a { color: light-dark(#a34412, #f2a272); text-underline-offset: .2em }
dt { margin-top: 1.2rem; font-weight: 600 }
dd { margin: 0 }
</style>
</head>
<body>
<main>
${PAW.replace('<svg', '<svg aria-hidden="true"')}
<h1>Petstore</h1>
<p>This service keeps the pets of a store.</p>
<dl>
<dt><a href="docs/">Documentation</a></dt>
<dd>How to get a key, every operation, and a form to try it.</dd>
<dt><a href="console/">Console</a></dt>
<dd>The pets themselves: list, look up and add them with a key, also many from a CSV file.</dd>
<dt><a href="openapi.json">OpenAPI document</a></dt>
<dd>The same for tools and generated clients.</dd>
</dl>
</main>
</body>
</html>
`;
