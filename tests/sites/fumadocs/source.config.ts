import {defineDocs, defineCollections, defineConfig} from 'fumadocs-mdx/config';

export const docs = defineDocs({dir: 'content/docs'});

export const news = defineCollections({type: 'doc', dir: './content/news'});

export default defineConfig();
