#pragma once

#include "core/operators/names.h"
#include "tests/core/trace/in_place_programs.h"

/// Programs with indices inside and outside of what they index, for tst_refused_programs.
namespace sonde::test::refused {

using namespace sonde::test::in_place;
using nn::Var;
using tensor::Value;

/// Numbers, or (if a text is given) an error with it.
struct Case {
    const char* name;
    Value input;
    Forward forward;
    Numbers expected;
    const char* refusal = nullptr;
    bool mayRefuse = false;  ///< a tracer may refuse what it cannot know
};

constexpr const char* kRange = "out of range";
constexpr const char* kMeets = "refer to a single memory location";
constexpr const char* kRepeats = "more than one element of the written-to tensor refers to a single memory location";

inline Var longs(std::vector<std::int64_t> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return Var(tensor::Tensor::of<std::int64_t>({count}, values));
}
inline Var aten(const char* op, std::vector<Var> arguments) {
    const std::string name(operators::withoutOverload(op));
    return trace::callFunction({op, name, "torch." + name}, std::move(arguments));
}
inline Forward calls(const char* op, std::vector<Var> arguments) {
    return [op, arguments](Custom&, In in) {
        std::vector<Var> all{clone(in[0])};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return aten(op, all);
    };
}
/// The same in place, the receiver returned.
inline Forward writes(const char* name, const char* op, std::vector<Var> arguments) {
    return [name, op, arguments](Custom&, In in) {
        const Var c = clone(in[0]);
        c.method(name, arguments, {}, op);
        return c;
    };
}

inline const std::vector<Case>& indexCases() {
    static const std::vector<Case> list = [] {
        const Var one(floats({1}, {9})), two(floats({2}, {8, 9})), row(floats({1, 2}, {8, 9}));
        const Value x = tensor4();
        std::vector<Case> cases;
        // As many calls for [good], [negative], [too large]; what negative ones give where they count from the end.
        struct Family {
            const char* name;
            std::function<Forward(std::int64_t)> call;
            Numbers good;      ///< index 1
            Numbers negative;  ///< index -1; empty: refused
        };
        const std::vector<Family> families{
            {"scatter.src",
             [=](auto i) {
                 return calls("scatter.src", {0, longs({i}), one});
             },
             {1, 9, 3, 4},
             {}},
            {"scatter.value",
             [=](auto i) {
                 return calls("scatter.value", {0, longs({i}), 9});
             },
             {1, 9, 3, 4},
             {}},
            {"scatter.reduce",
             [=](auto i) {
                 return calls("scatter.reduce", {0, longs({i}), one, "add"});
             },
             {1, 11, 3, 4},
             {}},
            {"scatter_add",
             [=](auto i) {
                 return calls("scatter_add", {0, longs({i}), one});
             },
             {1, 11, 3, 4},
             {}},
            {"scatter_reduce.two",
             [=](auto i) {
                 return calls("scatter_reduce.two", {0, longs({i}), one, "amax"});
             },
             {1, 9, 3, 4},
             {}},
            {"index_add",
             [=](auto i) {
                 return calls("index_add", {0, longs({i}), one});
             },
             {1, 11, 3, 4},
             {}},
            {"index_copy",
             [=](auto i) {
                 return calls("index_copy", {0, longs({i}), one});
             },
             {1, 9, 3, 4},
             {}},
            {"index_select",
             [=](auto i) {
                 return calls("index_select", {0, longs({i})});
             },
             {2},
             {}},
            {"gather",
             [=](auto i) {
                 return calls("gather", {0, longs({i})});
             },
             {2},
             {}},
            {"take_along_dim",
             [=](auto i) {
                 return calls("take_along_dim", {longs({i}), 0});
             },
             {2},
             {}},
            {"embedding",
             [=](auto i) -> Forward {
                 return [i](Custom&, In in) { return aten("embedding", {nn::view(in[0], {4, 1}), longs({i})}); };
             },
             {2},
             {}},
            {"scatter_",
             [=](auto i) {
                 return writes("scatter_", "scatter_.src", {0, longs({i}), one});
             },
             {1, 9, 3, 4},
             {}},
            {"scatter_add_",
             [=](auto i) {
                 return writes("scatter_add_", "scatter_add_", {0, longs({i}), one});
             },
             {1, 11, 3, 4},
             {}},
            {"index_add_",
             [=](auto i) {
                 return writes("index_add_", "index_add_", {0, longs({i}), one});
             },
             {1, 11, 3, 4},
             {}},
            {"index_copy_",
             [=](auto i) {
                 return writes("index_copy_", "index_copy_", {0, longs({i}), one});
             },
             {1, 9, 3, 4},
             {}},
            {"index_fill",
             [=](auto i) {
                 return calls("index_fill.int_Scalar", {0, longs({i}), 9});
             },
             {1, 9, 3, 4},
             {1, 2, 3, 9}},
            {"index_fill_",
             [=](auto i) {
                 return writes("index_fill_", "index_fill_.int_Scalar", {0, longs({i}), 9});
             },
             {1, 9, 3, 4},
             {1, 2, 3, 9}},
            {"take", [=](auto i) { return calls("take", {longs({i})}); }, {2}, {4}},
            {"put",
             [=](auto i) {
                 return calls("put", {longs({i}), one});
             },
             {1, 9, 3, 4},
             {1, 2, 3, 9}},
            {"put_",
             [=](auto i) {
                 return writes("put_", "put_", {longs({i}), one});
             },
             {1, 9, 3, 4},
             {1, 2, 3, 9}},
            {"index_put",
             [=](auto i) {
                 return calls("index_put", {Var::list({longs({i})}), one});
             },
             {1, 9, 3, 4},
             {1, 2, 3, 9}},
            {"x[tensor]",
             [=](auto i) -> Forward { return [i](Custom&, In in) { return clone(in[0])[longs({i})]; }; },
             {2},
             {4}},
        };
        // A bool is a mask of a new dimension.
        const auto sets = [](Var index, Var value) -> Forward {
            return [index, value](Custom&, In in) { return clone(in[0]).withItem(index, value); };
        };
        cases.push_back({"x[True] = 5", x, sets(true, 5), {5, 5, 5, 5}});
        cases.push_back({"x[False] = 5", x, sets(false, 5), {1, 2, 3, 4}});
        cases.push_back({"x[sum(x) > 5] = 2 x",
                         x,
                         [](Custom&, In in) { return clone(in[0]).withItem(nn::sum(in[0]) > 5, in[0] * 2); },
                         {2, 4, 6, 8}});
        cases.push_back({"x[True]",
                         floats({2, 2}, {1, 2, 3, 4}),
                         [](Custom&, In in) { return in[0][Var(true)] * 1; },
                         {1, 2, 3, 4}});
        cases.push_back({"sort, a method with two results",
                         x,
                         [](Custom&, In in) {
                             const std::vector<Var> sorted = (in[0] * -1).method("sort").unpack(2);
                             return sorted[0] * 10 + sorted[1];
                         },
                         {-37, -28, -19, -10}});
        cases.push_back({"x[1, True]",
                         floats({2, 2}, {1, 2, 3, 4}),
                         [](Custom&, In in) {
                             return in[0][Var::tuple({Var(1), Var(true)})] * 1;
                         },
                         {3, 4}});
        // A negative start counts from the end, as an index does.
        const auto narrowed = [](std::int64_t start, std::int64_t length) -> Forward {
            return [start, length](Custom&, In in) { return nn::narrow(clone(in[0]), 0, start, length) * 1; };
        };
        const auto writesNarrowed = [](std::int64_t start, std::int64_t length) -> Forward {
            return [start, length](Custom&, In in) {
                const Var c = clone(in[0]);
                add_(nn::narrow(c, 0, start, length), 10);
                return c;
            };
        };
        constexpr const char* kBeyond = "narrow reaches beyond float32[4]";
        cases.push_back({"narrow(-3, 2)", x, narrowed(-3, 2), {2, 3}});
        cases.push_back({"narrow(-1, 1)", x, narrowed(-1, 1), {4}});
        cases.push_back({"narrow(-1, 2)", x, narrowed(-1, 2), {}, kBeyond});
        cases.push_back({"narrow(-5, 1)", x, narrowed(-5, 1), {}, kBeyond});
        cases.push_back({"narrow(3, 2)", x, narrowed(3, 2), {}, kBeyond});
        cases.push_back({"narrow(-3, 2) written", x, writesNarrowed(-3, 2), {1, 12, 13, 4}});
        cases.push_back({"narrow(-2, 2) written", x, writesNarrowed(-2, 2), {1, 2, 13, 14}});
        cases.push_back({"narrow(-4, 4) written", x, writesNarrowed(-4, 4), {11, 12, 13, 14}});
        // Floats are no indices, neither numbers nor tensors.
        constexpr const char* kIntegers = "indices must be integers";
        const auto reads = [](Var index) -> Forward {
            return [index](Custom&, In in) { return clone(in[0])[index] * 1; };
        };
        cases.push_back({"x[1.0]", x, reads(1.0), {}, kIntegers});
        cases.push_back({"x[1.0:]", x, reads(Var::slice(1.0, Var())), {}, kIntegers});
        cases.push_back(
            {"x[x[0]:]", x, [](Custom&, In in) { return in[0][Var::slice(in[0][Var(0)], Var())] * 1; }, {}, kIntegers});
        cases.push_back({"x[1.0] = 5", x, sets(1.0, 5), {}, kIntegers});
        cases.push_back({"x[long(x[0]):]",
                         x,
                         [](Custom&, In in) { return in[0][Var::slice(in[0][Var(0)].method("long"), Var())] * 1; },
                         {2, 3, 4}});
        cases.push_back({"slice_scatter into nothing",
                         x,
                         calls("slice_scatter", {one, 0, 2, 2}),
                         {},
                         "without elements cannot take"});
        cases.push_back({"slice_scatter", x, calls("slice_scatter", {one, 0, 2, 3}), {1, 2, 9, 4}});
        cases.push_back({"float, long and bool by their names",
                         floats({3}, {-1.5F, 0, 2.75F}),
                         [](Custom&, In in) {
                             const Var whole = in[0].method("long").method("float"), is = in[0].method("bool");
                             return whole * 10 + is.method("float");
                         },
                         {-9, 0, 21}});
        for (const Family& family : families) {
            cases.push_back({family.name, x, family.call(1), family.good});
            cases.push_back(
                {family.name, x, family.call(-1), family.negative, family.negative.empty() ? kRange : nullptr});
            cases.push_back({family.name, x, family.call(4), {}, kRange});
            cases.push_back({family.name, x, family.call(-5), {}, kRange});
        }
        return cases;
    }();
    return list;
}

}  // namespace sonde::test::refused
