import {source} from '@/lib/source';
import {createRelativeLink} from 'fumadocs-ui/mdx';
import {notFound} from 'next/navigation';

export default async function Page(props: {params: Promise<{slug?: string[]}>}) {
  const page = source.getPage((await props.params).slug);
  if (!page) notFound();
  const Body = page.data.body;
  return <Body components={{a: createRelativeLink(source, page)}} />;
}
