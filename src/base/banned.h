// SPDX-License-Identifier: MIT
// Functions that have no safe use in this project do not compile. The build includes this file
// before every source file. The headers that declare the functions are included first, so that only
// uses are errors.
#ifndef SLUICE_BASE_BANNED_H
#define SLUICE_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BANNED(function) function##_is_banned_see_base_banned_h

#undef strcpy
#define strcpy(...) BANNED(strcpy)
#undef strcat
#define strcat(...) BANNED(strcat)
#undef strncpy
#define strncpy(...) BANNED(strncpy)
#undef strncat
#define strncat(...) BANNED(strncat)
#undef stpcpy
#define stpcpy(...) BANNED(stpcpy)
#undef strtok
#define strtok(...) BANNED(strtok)
#undef strtok_r
#define strtok_r(...) BANNED(strtok_r)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef gets
#define gets(...) BANNED(gets)
#undef scanf
#define scanf(...) BANNED(scanf)
#undef sscanf
#define sscanf(...) BANNED(sscanf)
#undef alloca
#define alloca(...) BANNED(alloca)
#undef atoi
#define atoi(...) BANNED(atoi)
#undef atol
#define atol(...) BANNED(atol)
#undef atoll
#define atoll(...) BANNED(atoll)
#undef atof
#define atof(...) BANNED(atof)
#undef rand
#define rand(...) BANNED(rand)
#undef srand
#define srand(...) BANNED(srand)
#undef gmtime
#define gmtime(...) BANNED(gmtime)
#undef localtime
#define localtime(...) BANNED(localtime)
#undef ctime
#define ctime(...) BANNED(ctime)
#undef asctime
#define asctime(...) BANNED(asctime)
#undef tmpnam
#define tmpnam(...) BANNED(tmpnam)
#undef mktemp
#define mktemp(...) BANNED(mktemp)

#endif
