import {docs, news} from '@/.source';
import {toFumadocsSource} from 'fumadocs-mdx/runtime/server';
import {loader} from 'fumadocs-core/source';
import {i18n} from './i18n';

export const source = loader({
  baseUrl: '/manual',
  source: docs.toFumadocsSource(),
});

export const posts = loader(toFumadocsSource(news, []), {baseUrl: '/news', i18n});
