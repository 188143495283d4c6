/*
 * Vectors of four counting numbers, in place of the vector types of dynamics/kernel/lane.h.
 *
 * An operation that is the same in several lanes counts once: the sum over lanes and the inverse
 * of a pivot are in all four lanes, but are one number.
 */
#pragma once

#include "tools/count/number.h"

#define DYN_LANE_GIVEN

namespace counting
{

struct dyn_lane;

struct dyn_lane_mask {
    alignas(32) long long e[4];
    long long operator[](int k) const
    {
        return e[k];
    }
    explicit operator dyn_lane() const;
};

struct dyn_lane {
    alignas(32) number e[4];
    number &operator[](int k)
    {
        return e[k];
    }
    number operator[](int k) const
    {
        return e[k];
    }
    explicit operator dyn_lane_mask() const
    {
        dyn_lane_mask bits;
        memcpy(&bits, e, sizeof bits);
        return bits;
    }
};

/* The same where it need not be aligned. */
struct dyn_loose_lane {
    number e[4];
    operator dyn_lane() const
    {
        return {{e[0], e[1], e[2], e[3]}};
    }
    dyn_loose_lane &operator=(const dyn_lane &a)
    {
        for (int k = 0; k < 4; k++)
            e[k] = a.e[k];
        return *this;
    }
};

inline dyn_lane_mask::operator dyn_lane() const
{
    dyn_lane a;
    memcpy(a.e, e, sizeof e);
    return a;
}

template <class F> dyn_lane_mask each_bits(F f)
{
    return {{f(0), f(1), f(2), f(3)}};
}

inline dyn_lane_mask operator&(dyn_lane_mask a, dyn_lane_mask b)
{
    return each_bits([&](int k) { return a.e[k] & b.e[k]; });
}

inline dyn_lane_mask operator|(dyn_lane_mask a, dyn_lane_mask b)
{
    return each_bits([&](int k) { return a.e[k] | b.e[k]; });
}

inline dyn_lane_mask operator^(dyn_lane_mask a, dyn_lane_mask b)
{
    return each_bits([&](int k) { return a.e[k] ^ b.e[k]; });
}

inline dyn_lane_mask operator+(dyn_lane_mask a, dyn_lane_mask b)
{
    return each_bits([&](int k) { return a.e[k] + b.e[k]; });
}

inline dyn_lane_mask operator~(dyn_lane_mask a)
{
    return each_bits([&](int k) { return ~a.e[k]; });
}

inline dyn_lane_mask operator-(dyn_lane_mask a)
{
    return each_bits([&](int k) { return -a.e[k]; });
}

inline dyn_lane_mask operator<<(dyn_lane_mask a, int by)
{
    return each_bits([&](int k) { return (long long)((unsigned long long)a.e[k] << by); });
}

inline dyn_lane_mask operator>(dyn_lane_mask a, dyn_lane_mask b)
{
    return each_bits([&](int k) { return -(long long)(a.e[k] > b.e[k]); });
}

inline dyn_lane_mask operator>(dyn_lane a, dyn_lane b)
{
    return each_bits([&](int k) { return -(long long)(a.e[k] > b.e[k]); });
}

inline dyn_lane_mask operator<(dyn_lane a, dyn_lane b)
{
    return b > a;
}

/* An earlier lane has the same two operands, in this order or the other. */
inline bool is_repeated(const dyn_lane &a, const dyn_lane &b, int k)
{
    for (int i = 0; i < k; i++)
        if ((a.e[i] == a.e[k] && b.e[i] == b.e[k]) || (a.e[i] == b.e[k] && b.e[i] == a.e[k]))
            return true;
    return false;
}

template <class F> dyn_lane each(const dyn_lane &a, const dyn_lane &b, F f)
{
    dyn_lane result;
    for (int k = 0; k < 4; k++) {
        const flop_count before = counted;
        result.e[k] = f(a.e[k], b.e[k]);
        if (is_repeated(a, b, k))
            counted = before;
    }
    return result;
}

inline dyn_lane operator+(dyn_lane a, dyn_lane b)
{
    return each(a, b, [](number x, number y) { return x + y; });
}

inline dyn_lane operator-(dyn_lane a, dyn_lane b)
{
    return each(a, b, [](number x, number y) { return x - y; });
}

inline dyn_lane operator*(dyn_lane a, dyn_lane b)
{
    return each(a, b, [](number x, number y) { return x * y; });
}

inline dyn_lane operator/(dyn_lane a, dyn_lane b)
{
    return each(a, b, [](number x, number y) { return x / y; });
}

inline dyn_lane operator-(dyn_lane a)
{
    return {{-a.e[0], -a.e[1], -a.e[2], -a.e[3]}};
}

inline dyn_lane &operator+=(dyn_lane &a, dyn_lane b)
{
    return a = a + b;
}

inline dyn_lane &operator-=(dyn_lane &a, dyn_lane b)
{
    return a = a - b;
}

inline dyn_lane shuffled(dyn_lane a, dyn_lane b, int i, int j, int k, int l)
{
    const auto at = [&](int n) { return n < 4 ? a.e[n] : b.e[n - 4]; };
    return {{at(i), at(j), at(k), at(l)}};
}

} // namespace counting

#define __builtin_shufflevector shuffled
