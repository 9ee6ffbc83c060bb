#pragma once

#include "core/nn/containers.h"
#include "core/nn/functional.h"
#include "tests/core/trace/traced_text.h"

/// Programs that write in place, with what PyTorch makes of them, worked by hand.
namespace sonde::test::in_place {

using nn::Var;
using tensor::Value;
using Numbers = std::vector<double>;
using In = std::span<const Var>;
using Forward = std::function<Var(Custom&, In)>;

inline Var all() { return Var::slice(Var(), Var()); }
inline Var clone(const Var& x) { return x.method("clone"); }
inline Var add_(const Var& x, const Var& y) {
    return x.method("add_", {y}, {},
                    y.kind() == Var::Kind::Value && y.value().isNumber() ? "add_.Scalar" : "add_.Tensor");
}
inline Var mul_(const Var& x, double y) { return x.method("mul_", {y}, {}, "mul_.Scalar"); }
inline Var method(const Var& x, const char* name, std::vector<Var> arguments, const char* op) {
    return x.method(name, std::move(arguments), {}, op);
}
inline Value tensor4() { return floats({4}, {1, 2, 3, 4}); }
inline Value matrix() { return floats({2, 3}, {1, 2, 3, 4, 5, 6}); }

inline constexpr trace::Function kBroadcast{"broadcast_tensors", "broadcast_tensors", "torch.broadcast_tensors", false};

enum Tracer : unsigned { kModulePath = 1, kRobust = 2, kTracedModule = 4, kCustom = 8, kEager = 16 };
/// All but custom, whose in-place operations are made values by a pass: it has tests of its own, and may refuse.
constexpr unsigned kAll = kEager | kModulePath | kRobust | kTracedModule;
/// fx has no item assignment.
constexpr unsigned kWithItems = kEager | kTracedModule;

struct Program {
    const char* name;
    Value input;
    Forward forward;
    Numbers expected;
    unsigned must = kAll;  ///< these give the numbers, others may refuse
};

inline const std::vector<Program>& programs() {
    // clang-format off
    static const std::vector<Program> list{
        {"slice written, base read", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c[Var::slice(0, 2)], 1);
             return c;
         }, {2, 3, 3, 4}},
        {"whole written, read by its old name", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c, 1);
             return c + 0;
         }, {2, 3, 4, 5}},
        {"base written, view read", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(1, 3)];
             mul_(c, 10);
             return v;
         }, {20, 30}},
        {"base written, broadcast read", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var list = trace::callFunction(kBroadcast, {Var::list({c, nn::reshape(in[0], {4, 1})})});
             mul_(c, 10);
             return list[Var(0)][Var(1)];
         }, {10, 20, 30, 40}, kEager},
        {"strides over the storage of a part", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             return method(c[Var::slice(1, 3)], "as_strided", {Var(std::vector<std::int64_t>{2}), Var(std::vector<std::int64_t>{1}), 0}, "as_strided") * 1;
         }, {1, 2}, kEager},
        {"strides over the storage of what is transposed", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             return method(nn::transpose(nn::reshape(c, {2, 2}), 0, 1), "as_strided", {Var(std::vector<std::int64_t>{4}), Var(std::vector<std::int64_t>{1})}, "as_strided") * 1;
         }, {1, 2, 3, 4}, kEager},
        {"sibling views", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var a = c[Var::slice(0, 3)], b = c[Var::slice(1, 4)];
             add_(a, 10);
             return b;
         }, {12, 13, 4}},
        {"the result of add_ is its receiver", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var d = add_(c, 1);
             mul_(d, 2);
             return c;
         }, {4, 6, 8, 10}},
        {"a value from before stays", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var before = c * 1;
             add_(c, 1);
             return before + c;
         }, {3, 5, 7, 9}},
        {"view of a view", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             mul_(c[Var::slice(1, 2)][Var::tuple({all(), Var::slice(0, 2)})], 10);
             return c;
         }, {1, 2, 3, 40, 50, 6}},
        {"transpose written", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::transpose(c, 0, 1)[Var(0)], 100);
             return c;
         }, {101, 2, 3, 104, 5, 6}},
        {"transpose read after its base was written", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var t = nn::permute(c, {1, 0});
             add_(c[Var(0)], 10);
             return t;
         }, {11, 4, 12, 5, 13, 6}},
        {"permute written", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             mul_(nn::permute(nn::unsqueeze(c, 0), {2, 0, 1})[Var(1)], 10);
             return c;
         }, {1, 20, 3, 4, 50, 6}},
        {"view written", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::view(c, {2, 2})[Var(1)], 5);
             return c;
         }, {1, 2, 8, 9}},
        {"reshape of a packed tensor is a view", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::reshape(c, {2, 2}), 5);
             return c;
         }, {6, 7, 8, 9}},
        {"reshape of a transposed tensor is a copy", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var r = nn::reshape(nn::transpose(c, 0, 1), {6});
             add_(r, 100);
             return c;
         }, {1, 2, 3, 4, 5, 6}, kEager},
        {"reshape of columns is a view where strides can say it", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::reshape(c[Var::tuple({all(), Var::slice(0, 2)})], {2, 2, 1}), 10);
             return c;
         }, {11, 12, 3, 14, 15, 6}, kEager},
        {"flatten", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::flatten(c)[Var::slice(4, 6)], 1);
             return c;
         }, {1, 2, 3, 4, 6, 7}},
        {"unsqueeze and squeeze", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var u = nn::unsqueeze(c, 0);
             add_(u, 1);
             mul_(nn::squeeze(u, 0), 2);
             return c;
         }, {4, 6, 8, 10}},
        {"detach", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var d = method(c, "detach", {}, "detach");
             add_(d, 1);
             mul_(c, 2);
             return d + c;
         }, {8, 12, 16, 20}},
        {"contiguous of a packed tensor is it", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::contiguous(c), 1);
             return c;
         }, {2, 3, 4, 5}},
        {"clone is a copy", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(clone(c), 1);
             return c;
         }, {1, 2, 3, 4}},
        {"chunk written", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var parts = nn::chunk(c, 2, 0);
             add_(parts[Var(1)], 10);
             return c;
         }, {1, 2, 13, 14}},
        {"chunk read after its base was written", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const std::vector<Var> parts = nn::chunk(c, 2, 0).unpack(2);
             add_(c, 1);
             mul_(parts[0], 10);
             return nn::cat({parts[1], parts[0], c}, 0);
         }, {4, 5, 20, 30, 20, 30, 4, 5}},
        {"split and unbind", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var rows = method(c, "unbind", {0}, "unbind.int");
             add_(rows[Var(1)], 10);
             const Var columns = method(c, "split", {1, 1}, "split.Tensor");
             mul_(columns[Var(0)], 2);
             return c;
         }, {2, 2, 3, 28, 15, 16}},
        {"select and narrow", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(method(c, "select", {1, 2}, "select.int"), 1);
             add_(nn::narrow(c, 1, 0, 2), 10);
             return c;
         }, {11, 12, 4, 14, 15, 7}},
        {"a step in a slice", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             mul_(c[Var::slice(Var(), Var(), 2)], 10);
             return c;
         }, {10, 2, 30, 4}},
        {"diagonal", floats({2, 2}, {1, 2, 3, 4}), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(method(c, "diagonal", {}, "diagonal"), 10);
             return c;
         }, {11, 2, 3, 14}},
        {"an index with a tensor is a copy", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var index(tensor::Tensor::of<std::int64_t>({2}, {0, 1}));
             add_(c[index], 100);
             return c;
         }, {1, 2, 3, 4}},
        {"a mask reads a copy", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c[c > 2], 100);
             return c;
         }, {1, 2, 3, 4}},
        {"fill_, zero_, copy_", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             method(c[Var::slice(0, 1)], "fill_", {9}, "fill_.Scalar");
             method(c[Var::slice(1, 2)], "zero_", {}, "zero_");
             method(c[Var::slice(2, 4)], "copy_", {in[0][Var::slice(0, 2)]}, "copy_");
             return c;
         }, {9, 0, 1, 2}},
        {"relu_ through a view", floats({4}, {-1, 2, -3, 4}), [](Custom&, In in) {
             const Var c = clone(in[0]);
             method(c[Var::slice(2, 4)], "relu_", {}, "relu_");
             return c;
         }, {-1, 2, 0, 4}},
        {"unsqueeze_ keeps the memory", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(0, 2)];
             method(c, "unsqueeze_", {0}, "unsqueeze_");
             add_(c, 1);
             return nn::cat({v, c[Var(0)]}, 0);
         }, {2, 3, 2, 3, 4, 5}},
        {"out=", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(0, 2)];
             trace::callFunction({"add.Tensor", "add", "torch.add"}, {in[0], in[0]}, {{"out", c}});
             return nn::cat({c, v}, 0);
         }, {2, 4, 6, 8, 2, 4}},
        {"out= of a view", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             trace::callFunction({"exp.out", "exp", "torch.exp"}, {in[0][Var::slice(0, 2)] * 0}, {{"out", c[Var::slice(2, 4)]}});
             return c;
         }, {1, 2, 1, 1}},
        {"x.data", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c.attr("data"), 1);
             return c;
         }, {2, 3, 4, 5}},
        {"x.T", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c.attr("T")[Var(1)], 10);
             return c;
         }, {1, 12, 3, 4, 15, 6}},
        {"in a loop", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             for (std::int64_t i = 0; i < 3; ++i) add_(c[Var::slice(i, i + 2)], i + 1);
             return c;
         }, {2, 5, 8, 7}},
        {"the input itself", tensor4(), [](Custom&, In in) {
             add_(in[0], 1);
             return in[0] * 2;
         }, {4, 6, 8, 10}},
        {"a child writes to its input", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             const Var y = self.at("child")(c);
             return nn::cat({c, y}, 0);
         }, {11, 12, 13, 14, 22, 24, 26, 28}},
        {"a tensor that was written goes to a child", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(0, 2)];
             add_(c, 1);
             const Var y = self.at("child")(v);
             return nn::cat({c, y}, 0);
         }, {12, 13, 4, 5, 24, 26}},
        {"a child writes to a view", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             self.at("child")(c[Var::slice(1, 3)]);
             return c;
         }, {1, 12, 13, 4}},
        {"a child is called twice", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             const Var y = self.at("child")(c) + self.at("child")(c);
             return nn::cat({c, y}, 0);
         }, {21, 22, 23, 24, 64, 68, 72, 76}},
        {"a child gives its input back", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             add_(self.at("identity")(c), 1);
             return c;
         }, {2, 3, 4, 5}},
        {"a buffer counts", tensor4(), [](Custom& self, In in) {
             const Var b = self.tensor("buffer");
             add_(b, in[0]);
             return in[0] + self.tensor("buffer");
         }, {102, 104, 106, 108}},
        {"a part of a buffer", tensor4(), [](Custom& self, In in) {
             add_(self.tensor("buffer")[Var::slice(0, 2)], 1);
             return in[0] + self.tensor("buffer");
         }, {102, 103, 103, 104}},
        {"a constant takes proxies", tensor4(), [](Custom&, In in) {
             const Var z(floats({4}, {0, 0, 0, 0}));
             const Var v = z[Var::slice(2, 4)];
             add_(z, in[0]);
             return nn::cat({z, v}, 0);
         }, {1, 2, 3, 4, 3, 4}},
        {"item assignment", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var row = c[Var(0)];
             c.withItem(Var::tuple({all(), Var(1)}), 0);
             return nn::cat({row, c[Var(1)]}, 0);
         }, {1, 0, 3, 4, 0, 6}, kWithItems},
        {"item assignment through a view", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             c[Var(1)].withItem(Var::slice(0, 2), 7);
             return c;
         }, {1, 2, 3, 7, 7, 6}, kWithItems},
        {"assignment with a mask", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(2, 4)];
             c.withItem(c > 2, 0);
             return nn::cat({c, v}, 0);
         }, {1, 2, 0, 0, 0, 0}, kWithItems},
        {"assignment with a tensor of indices", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             c.withItem(Var(tensor::Tensor::of<std::int64_t>({2}, {3, 0})), in[0][Var::slice(1, 3)]);
             return c;
         }, {3, 2, 3, 2}, kWithItems},
        {"an assignment is not a new value", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             c.withItem(0, 5.0);
             return c;
         }, {5, 2, 3, 4}, kWithItems},
        {"an assignment to a constant", tensor4(), [](Custom&, In in) {
             const Var z(floats({4}, {0, 0, 0, 0}));
             z.withItem(Var::slice(1, 3), in[0][Var::slice(0, 2)]);
             return z;
         }, {0, 1, 2, 0}},
        {"another shape in place, a view from before read", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(0, 2)];
             c.method("unsqueeze_", {0}, {});
             return nn::cat({v, nn::view(c, {4})}, 0);
         }, {1, 2, 1, 2, 3, 4}, kAll | kCustom},
        {"another shape in place, then written, a view from before read", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(0, 2)];
             c.method("unsqueeze_", {0}, {});
             add_(c, 1);
             return v;
         }, {2, 3}, kAll | kCustom},
        {"turned in place, then cut", tensor4(), [](Custom&, In in) {
             const Var m = nn::view(clone(in[0]), {2, 2});
             m.method("t_");
             return m[0];
         }, {1, 3}, kAll | kCustom},
        {"turned in place, then written", tensor4(), [](Custom&, In in) {
             const Var m = nn::view(clone(in[0]), {2, 2});
             const Var r = m[0];
             m.method("t_");
             add_(m, 1);
             return r;
         }, {2, 3}, kAll | kCustom},
        {"turned in place, a part written, the base read", tensor4(), [](Custom&, In in) {
             const Var b = clone(in[0]);
             const Var m = nn::view(b, {2, 2});
             m.method("transpose_", {0, 1}, {});
             mul_(m[0], 0);
             return b;
         }, {0, 2, 0, 4}, kAll | kCustom},
        {"turned in place, then overwritten after what may be a copy of it", matrix(), [](Custom&, In in) {
             const Var m = clone(in[0]);
             m.method("transpose_", {0, 1}, {});
             nn::flatten(m).method("fill_", {0.5}, {});
             m.method("fill_", {1.5}, {});
             return m[0];
         }, {1.5, 1.5}, kEager | kCustom},
        {"turned in place, the base written", tensor4(), [](Custom&, In in) {
             const Var b = clone(in[0]);
             const Var m = nn::view(b, {2, 2});
             m.method("transpose_", {0, 1}, {});
             add_(b, 1);
             return m;
         }, {2, 4, 3, 5}, kAll | kCustom},
        {"squeezed in place, then a part written", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var u = nn::unsqueeze(c, 0), d = u[0];
             u.method("squeeze_", {0}, {}, "squeeze_.dim");
             mul_(u[Var::slice(0, 2)], 0);
             return d;
         }, {0, 0, 3, 4}, kAll | kCustom},
        {"a view written after its base got another shape", tensor4(), [](Custom&, In in) {
             const Var c = in[0] * 1;
             const Var v = nn::view(c, {2, 2});
             c.method("unsqueeze_", {0}, {});
             mul_(v[0], 0);
             return c + 0;
         }, {0, 0, 3, 4}, kAll | kCustom},
        {"an argument gets another shape inside of a call", tensor4(), [](Custom& self, In in) {
             const Var c = nn::view(clone(in[0]), {2, 2});
             self.at("turning").call({c}, {});
             return c[0];
         }, {1, 3}, kEager},
        {"another name of the same tensor gets another shape", tensor4(), [](Custom&, In in) {
             const Var c = nn::view(clone(in[0]), {2, 2});
             nn::contiguous(c).method("t_");
             return c[0];
         }, {1, 3}, kEager},
        {"halves of one tensor", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c[Var::slice(0, 2)], c[Var::slice(2, 4)]);
             return c;
         }, {4, 6, 3, 4}},
        {"the last row takes the first", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]), v = nn::view(c, {2, 2});
             v.withItem(-1, v[0]);
             v.withItem(Var::tuple({Var::ellipsis(), -1}), 0);
             return c;
         }, {1, 0, 1, 0}, kWithItems | kCustom},
        {"the first row is added to the last", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]), v = nn::view(c, {2, 2});
             add_(v[-1], v[0]);
             return c;
         }, {1, 2, 4, 6}, kAll | kCustom},
        {"the end takes the beginning", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             c.withItem(Var::slice(-2, Var()), c[Var::slice(0, 2)]);
             return c;
         }, {1, 2, 1, 2}, kWithItems | kCustom},
        {"a part that a module gives is written", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             add_(self.at("part").call({c}, {}), 1);
             return c;
         }, {2, 3, 3, 4}, kAll | kCustom},
        {"a part that a module gives is read", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]), part = self.at("part").call({c}, {});
             mul_(c, 10);
             return part;
         }, {10, 20}, kAll | kCustom},
        {"a module gives the same part twice", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             const Var first = self.at("part").call({c}, {}), second = self.at("part").call({c}, {});
             add_(first, 1);
             mul_(c, 10);
             return first + second;
         }, {40, 60}, kAll | kCustom},
        {"a module gives a part of a part", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]), corner = self.at("corner").call({c}, {});
             add_(corner, 10);
             mul_(c, 2);
             return nn::cat({c, corner}, 0);
         }, {2, 4, 26, 28, 26, 28}, kAll | kCustom},
        {"parts of parts through two modules", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]), part = self.at("part").call({self.at("corner").call({c}, {})}, {});
             add_(part, 10);
             return c;
         }, {1, 2, 13, 14}, kAll | kCustom},
        {"a module gives two parts", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]), parts = self.at("halves").call({c}, {});
             add_(parts[0], 10);
             mul_(c, 2);
             return nn::cat({c, parts[1]}, 0);
         }, {22, 24, 6, 8, 6, 8}},
        {"a module writes and gives a part", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]), part = self.at("written part").call({c}, {});
             mul_(part, 2);
             return c;
         }, {22, 24, 13, 14}},
        {"parts by name", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]), parts = self.at("named halves").call({c}, {});
             mul_(parts[Var("b")], 10);
             return c + parts[Var("b")][0];
         }, {31, 32, 60, 70}, kEager},
        {"a module gives its buffer", tensor4(), [](Custom& self, In in) {
             const Var buffer = self.at("buffered").call({in[0]}, {});
             mul_(buffer, 2);
             return buffer + in[0];
         }, {201, 202, 203, 204}, kEager | kTracedModule},
        {"a module gives its buffer again, which was written", tensor4(), [](Custom& self, In in) {
             mul_(self.at("buffered").call({in[0]}, {}), 2);
             return self.at("buffered").call({in[0]}, {}) + in[0];
         }, {201, 202, 203, 204}, kEager},
        {"elements of one list", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var parts = nn::chunk(c, 4, 0);
             for (int i = 3; i > 0; --i) add_(parts[i], parts[i - 1]);
             return c;
         }, {1, 3, 5, 7}},
    };
    // clang-format on
    return list;
}

inline std::shared_ptr<Custom> moduleOf(const Program& program) {
    const auto net = custom("Net", program.forward);
    net->addChild("child", custom("Child", [](Custom&, In in) {
                      add_(in[0], 10);
                      return in[0] * 2;
                  }));
    net->addChild("identity", custom("Same", [](Custom&, In in) { return in[0]; }));
    net->addChild("turning", custom("Turning", [](Custom&, In in) {
                      in[0].method("t_");
                      return in[0] * 2;
                  }));
    net->addChild("part", custom("Part", [](Custom&, In in) { return in[0][Var::slice(0, 2)]; }));
    net->addChild("corner", custom("Corner", [](Custom&, In in) { return nn::view(in[0], {2, 2})[1]; }));
    net->addChild("halves", custom("Halves", [](Custom&, In in) {
                      return Var::tuple({in[0][Var::slice(0, 2)], in[0][Var::slice(2, 4)]});
                  }));
    net->addChild("named halves", custom("NamedHalves", [](Custom&, In in) {
                      return Var::dict({{Value("b"), in[0][Var::slice(2, 4)]}, {Value("a"), in[0][Var::slice(0, 2)]}});
                  }));
    const auto buffered = custom("Buffered", [](Custom& self, In) { return self.tensor("own"); });
    buffered->addBuffer("own", tensor::Tensor::of<float>({4}, {100, 100, 100, 100}));
    net->addChild("buffered", buffered);
    net->addChild("written part", custom("WrittenPart", [](Custom&, In in) {
                      add_(in[0], 10);
                      return in[0][Var::slice(0, 2)];
                  }));
    net->addBuffer("buffer", tensor::Tensor::of<float>({4}, {100, 100, 100, 100}));
    return net;
}

}  // namespace sonde::test::in_place
