/* markup_check.h - is a page well-formed, and is everything drawn where it can be seen? */
#ifndef TESTS_MARKUP_CHECK_H
#define TESTS_MARKUP_CHECK_H

/* Read text as XML 1.0, strictly: every element closed, attributes quoted and named once, no bare
 * '&' or '<', only characters that XML knows. In pictures every coordinate has to be a number
 * inside of the viewBox. NULL: all of it holds; else the first thing that does not, in a static
 * text. */
const char *markup_complaint(const char *text);

#endif
