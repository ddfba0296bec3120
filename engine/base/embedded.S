/* embedded.S - puts the text files of embedded.h into the program; the Makefile names the files. */

	.section .rodata

	.global embedded_adaptra_lua
	.type embedded_adaptra_lua, %object
embedded_adaptra_lua:
#ifdef EMBEDDED_adaptra
	.incbin EMBEDDED_adaptra
#endif
	.byte 0
	.size embedded_adaptra_lua, . - embedded_adaptra_lua

	.global embedded_schema_sql
	.type embedded_schema_sql, %object
embedded_schema_sql:
#ifdef EMBEDDED_schema
	.incbin EMBEDDED_schema
#endif
	.byte 0
	.size embedded_schema_sql, . - embedded_schema_sql

	.global embedded_corpus_txt
	.type embedded_corpus_txt, %object
embedded_corpus_txt:
#ifdef EMBEDDED_corpus
	.incbin EMBEDDED_corpus
#endif
	.byte 0
	.size embedded_corpus_txt, . - embedded_corpus_txt

	.global embedded_page_css
	.type embedded_page_css, %object
embedded_page_css:
#ifdef EMBEDDED_page
	.incbin EMBEDDED_page
#endif
	.byte 0
	.size embedded_page_css, . - embedded_page_css

	.section .note.GNU-stack, "", %progbits
