puts "xref:start.adoc[]"
