// SPDX-License-Identifier: BSD-3-Clause
// C functions that are neither in ziglang's musl sources nor in its compiler library, from Zig's standard
// library. All are single-threaded and use the default rounding mode.
const std = @import("std");
const math = std.math;

pub const panic = std.debug.no_panic;

// Exports the double version under C's name, and the float version with the suffix f.
fn give(comptime name: []const u8, comptime function: anytype) void {
    @export(&function(f64).call, .{ .name = name });
    @export(&function(f32).call, .{ .name = name ++ "f" });
}

// A function of one argument, by its name in the standard library.
fn One(comptime name: []const u8) fn (type) type {
    return struct {
        fn Of(comptime T: type) type {
            return struct {
                fn call(x: T) callconv(.c) T {
                    return @field(math, name)(x);
                }
            };
        }
    }.Of;
}

fn Two(comptime name: []const u8) fn (type) type {
    return struct {
        fn Of(comptime T: type) type {
            return struct {
                fn call(x: T, y: T) callconv(.c) T {
                    return @field(math, name)(x, y);
                }
            };
        }
    }.Of;
}

comptime {
    for (.{ "acos", "atan", "cbrt", "cosh", "log1p", "tanh" }) |name| give(name, One(name));
    @export(&One("asin")(f64).call, .{ .name = "asin" }); // musl's sources have asinf
    @export(&One("acosh")(f32).call, .{ .name = "acoshf" }); // and acosh
    for (.{ "copysign", "hypot" }) |name| give(name, Two(name));
    give("fdim", Difference);
    give("rint", Rounded);
    give("nearbyint", Rounded);
    give("frexp", Split);
    give("modf", Parts);
}

fn Difference(comptime T: type) type {
    return struct {
        fn call(x: T, y: T) callconv(.c) T {
            if (math.isNan(x) or math.isNan(y)) return x + y;
            return if (x > y) x - y else 0;
        }
    };
}

// Rounds to the nearest integer, ties to even, by adding and subtracting a value that has no fractional bits.
fn Rounded(comptime T: type) type {
    return struct {
        fn call(x: T) callconv(.c) T {
            const whole: T = 1.0 / math.floatEps(T);
            if (!(@abs(x) < whole)) return x;
            var magnitude: T = @abs(x) + whole;
            std.mem.doNotOptimizeAway(&magnitude);
            return math.copysign(magnitude - whole, x);
        }
    };
}

fn Split(comptime T: type) type {
    return struct {
        fn call(x: T, exponent: *c_int) callconv(.c) T {
            const parts = math.frexp(x);
            exponent.* = parts.exponent;
            return parts.significand;
        }
    };
}

fn Parts(comptime T: type) type {
    return struct {
        fn call(x: T, whole: *T) callconv(.c) T {
            whole.* = @trunc(x);
            if (math.isNan(x)) return x;
            return math.copysign(if (math.isInf(x)) 0 else x - whole.*, x);
        }
    };
}

export fn memcmp(a: [*]const u8, b: [*]const u8, size: usize) c_int {
    for (a[0..size], b[0..size]) |x, y| {
        if (x != y) return @as(c_int, x) - y;
    }
    return 0;
}

export fn bcmp(a: [*]const u8, b: [*]const u8, size: usize) c_int {
    return memcmp(a, b, size);
}

export fn memchr(bytes: [*]const u8, wanted: c_int, size: usize) ?*const u8 {
    const byte: u8 = @truncate(@as(c_uint, @bitCast(wanted)));
    for (bytes[0..size]) |*candidate| {
        if (candidate.* == byte) return candidate;
    }
    return null;
}

export fn strlen(text: [*:0]const u8) usize {
    var size: usize = 0;
    while (text[size] != 0) size += 1;
    return size;
}

export fn strcmp(a: [*:0]const u8, b: [*:0]const u8) c_int {
    var i: usize = 0;
    while (a[i] == b[i] and a[i] != 0) i += 1;
    return @as(c_int, a[i]) - b[i];
}

export fn strncmp(a: [*]const u8, b: [*]const u8, size: usize) c_int {
    for (0..size) |i| {
        if (a[i] != b[i]) return @as(c_int, a[i]) - b[i];
        if (a[i] == 0) break;
    }
    return 0;
}

// Parses the longest prefix of `text` that is a decimal number; accepts no leading spaces.
export fn strtod(text: [*:0]const u8, end: ?*[*:0]const u8) f64 {
    var size: usize = 0;
    var value: f64 = 0;
    var tried: usize = 0;
    while (text[tried] != 0) {
        tried += 1;
        value = std.fmt.parseFloat(f64, text[0..tried]) catch continue;
        size = tried;
    }
    if (end) |place| place.* = text + size;
    return if (size == 0) 0 else std.fmt.parseFloat(f64, text[0..size]) catch 0;
}
