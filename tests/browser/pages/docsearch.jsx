// DocSearch's box of React, as its users write it: the search client alone is ours.
import { DocSearch } from '@docsearch/react';
import { createRoot } from 'react-dom/client';

const { server, domain, key } = document.body.dataset;
const { docent } = await import(`${server}/widget/docsearch.js`);

createRoot(document.getElementById('search')).render(
  <DocSearch appId="docs" apiKey="none" indices={['docs']} transformSearchClient={docent({ domain, key })} />,
);
window.ready = true;
