/* embedded.h - text files that travel inside the program. */
#ifndef ENGINE_BASE_EMBEDDED_H
#define ENGINE_BASE_EMBEDDED_H

/* NUL-terminated; static. */
extern const char embedded_adaptra_lua[]; /* lua/adaptra.lua */
extern const char embedded_schema_sql[];  /* engine/store/schema.sql */
extern const char embedded_corpus_txt[];  /* engine/model/corpus.txt */
extern const char embedded_page_css[];    /* reports/page.css */

#endif
