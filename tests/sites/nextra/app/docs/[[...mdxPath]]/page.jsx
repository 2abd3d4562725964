import {generateStaticParamsFor, importPage} from 'nextra/pages';

export const generateStaticParams = generateStaticParamsFor('mdxPath');

export default async function Page(props) {
  const {default: Content} = await importPage((await props.params).mdxPath);
  return <Content />;
}
