/*
 * A number that counts what is done to it, in place of double: the sources of dynamics/ are
 * compiled once more with it.
 *
 * Trivial operations do not count: a sum with an exact zero, a product with an exact zero or one.
 * Where the model and the state are random, a number is exactly zero or one only by structure,
 * such as the fourth lane of a three-vector, an empty mode, or a component along a link axis.  A
 * number has the size of a double, so a model made of doubles can be read as it is.
 */
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tools/count/flops.h"

namespace counting
{

extern struct flop_count counted;

struct number {
    double e;
    number() = default;
    constexpr number(double a) : e(a)
    {
    }
};

/* Operands by which nothing is done. */
inline bool is_none(number a)
{
    return a.e == 0.0;
}

inline bool is_unit(number a)
{
    return a.e == 1.0 || a.e == -1.0;
}

inline bool counts_as_sum(number a, number b)
{
    return !is_none(a) && !is_none(b);
}

inline bool counts_as_product(number a, number b)
{
    return !is_none(a) && !is_none(b) && !is_unit(a) && !is_unit(b);
}

inline bool counts_as_quotient(number a, number b)
{
    return !is_none(a) && !is_unit(b);
}

inline number operator+(number a, number b)
{
    counted.additions += counts_as_sum(a, b);
    return a.e + b.e;
}

inline number operator-(number a, number b)
{
    counted.additions += counts_as_sum(a, b);
    return a.e - b.e;
}

inline number operator*(number a, number b)
{
    counted.multiplications += counts_as_product(a, b);
    return a.e * b.e;
}

inline number operator/(number a, number b)
{
    counted.divisions += counts_as_quotient(a, b);
    return a.e / b.e;
}

/* A sign is no operation: the next addition takes it along. */
inline number operator-(number a)
{
    return -a.e;
}

inline number &operator+=(number &a, number b)
{
    return a = a + b;
}

inline number &operator-=(number &a, number b)
{
    return a = a - b;
}

inline number &operator*=(number &a, number b)
{
    return a = a * b;
}

inline number &operator/=(number &a, number b)
{
    return a = a / b;
}

inline bool operator<(number a, number b)
{
    return a.e < b.e;
}

inline bool operator>(number a, number b)
{
    return a.e > b.e;
}

inline bool operator==(number a, number b)
{
    return a.e == b.e;
}

/* With its cosine it is one function. */
inline number sin(number a)
{
    counted.functions++;
    return std::sin(a.e);
}

inline number cos(number a)
{
    return std::cos(a.e);
}

inline number tanh(number a)
{
    counted.functions++;
    return std::tanh(a.e);
}

inline number atan2(number y, number x)
{
    counted.functions++;
    return std::atan2(y.e, x.e);
}

inline number sqrt(number a)
{
    counted.functions++;
    return std::sqrt(a.e);
}

inline number fabs(number a)
{
    return std::fabs(a.e);
}

} // namespace counting

/* Of C what C++ spells in another way. */
#define _Alignas alignas
#define restrict __restrict
