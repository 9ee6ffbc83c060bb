// Models whose own code throws, in places that a tracer or a run comes to, and models with an input that may be left
// out; for tst_plugin.

#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/nn/plugin.h"

namespace throwing {

using namespace sonde;
using nn::Var;

/// Throws what is no std::exception: while it is traced, or (`onValues`) only when it gets numbers.
class Bad : public nn::Module {
  public:
    explicit Bad(bool onValues) : m_onValues(onValues) {}
    std::string className() const override { return "Bad"; }
    Var forward(std::span<const Var> in) override {
        if (!m_onValues || !in[0].isProxy()) throw 5;
        return in[0].toBool() ? in[0] : -in[0];
    }

  private:
    bool m_onValues;
};

class Nested : public nn::Module {
  public:
    explicit Nested(bool onValues = false) : m_bad(add("bad", std::make_shared<Bad>(onValues))) {}
    std::string className() const override { return "Nested"; }
    Var forward(std::span<const Var> in) override { return (*m_bad)(in[0] * 2) + 1; }

  private:
    std::shared_ptr<Bad> m_bad;
};

class InTheRun : public Nested {
  public:
    InTheRun() : Nested(true) {}
    std::string className() const override { return "InTheRun"; }
};

class ThrowsAnInt : public nn::Module {
  public:
    std::string className() const override { return "ThrowsAnInt"; }
    Var forward(std::span<const Var>) override { throw 5; }
};

class NoSignature : public nn::Module {
  public:
    std::string className() const override { return "NoSignature"; }
    std::vector<nn::ForwardParameter> signature() const override { throw std::runtime_error("no parameters today"); }
};

class NamelessChild : public nn::Module {
  public:
    NamelessChild() { add("", std::make_shared<nn::Linear>(2, 2)); }
    std::string className() const override { return "NamelessChild"; }
};

/// forward(x, mask=None): 2 x, and with a mask 2 x + mask.
class OptionalMask : public nn::Module {
  public:
    std::string className() const override { return "OptionalMask"; }
    std::vector<nn::ForwardParameter> signature() const override {
        return {{"x", std::nullopt, false, true}, {"mask", tensor::Value(), false, true}};
    }
    Var forward(std::span<const Var> in) override { return in[1].isNone() ? in[0] * 2 : in[0] * 2 + in[1]; }
};

class GivenMask : public OptionalMask {
  public:
    std::string className() const override { return "GivenMask"; }
};

/// Rows in pairs: reshape(x, {x.size(0) / 2, -1}).
class Pairs : public nn::Module {
  public:
    std::string className() const override { return "Pairs"; }
    std::vector<nn::ForwardParameter> signature() const override { return {{"x", std::nullopt, false, true}}; }
    Var forward(std::span<const Var> in) override {
        return nn::reshape(nn::where(in[0] > 0, 1.0, 2.0), {trace::floordiv(nn::size(in[0], 0), 2), -1});
    }
};

/// A module that handles what its child throws: 3 x for an int, 4 x for anything else.
class Handles : public nn::Module {
  public:
    Handles() : m_child(add("child", std::make_shared<ThrowsAnInt>())) {}
    std::string className() const override { return "Handles"; }
    Var forward(std::span<const Var> in) override {
        try {
            return (*m_child)(in[0]);
        } catch (int) {
            return in[0] * 3;
        } catch (...) {
            return in[0] * 4;
        }
    }

  private:
    std::shared_ptr<ThrowsAnInt> m_child;
};

/// More memory than there is, in one piece.
class TooMuch : public nn::Module {
  public:
    std::string className() const override { return "TooMuch"; }
    Var forward(std::span<const Var> in) override {
        const std::vector<double> large(std::size_t{1} << 46);
        return in[0] * large[3];
    }
};

/// Looks whether operator new throws where it has to, and nothrow gives null; 1 if so.
class Allocations : public nn::Module {
  public:
    std::string className() const override { return "Allocations"; }
    Var forward(std::span<const Var> in) override {
        constexpr std::size_t kHuge = std::size_t{1} << 49;
        constexpr std::align_val_t kAlignment{256};
        static int asked = 0;
        bool isRight = !::operator new(kHuge, std::nothrow) && !::operator new(kHuge, kAlignment, std::nothrow);
        std::set_new_handler([] {
            if (++asked == 2) std::set_new_handler(nullptr);
        });
        try {
            ::operator delete[](::operator new[](kHuge, kAlignment), kAlignment);
            isRight = false;
        } catch (const std::bad_alloc&) {
            isRight = isRight && asked == 2;
        }
        void* aligned = ::operator new(100, kAlignment);
        isRight = isRight && reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0;
        ::operator delete(aligned, 100, kAlignment);
        return in[0] * 0 + (isRight ? 1 : 0);
    }
};

/// Makes itself a child of itself while it runs.
class ItsOwnChild : public nn::Module {
  public:
    std::string className() const override { return "ItsOwnChild"; }
    Var forward(std::span<const Var> in) override {
        if (!child("me")) addChild("me", shared_from_this());
        return in[0] + 1;
    }
};

SONDE_MODEL(Handles, "handles", nn::input("input", {4}));
SONDE_MODEL(TooMuch, "too_much", nn::input("input", {4}));
SONDE_MODEL(Allocations, "allocations", nn::input("input", {4}));
SONDE_MODEL(ItsOwnChild, "its_own_child", nn::input("input", {4}));
SONDE_MODEL(Nested, "nested", nn::input("input", {4}));
SONDE_MODEL(InTheRun, "in_the_run", nn::input("input", {1}));
SONDE_MODEL(ThrowsAnInt, "throws_an_int", nn::input("input", {4}));
SONDE_MODEL(NoSignature, "no_signature");
SONDE_MODEL(NamelessChild, "nameless_child");
SONDE_MODEL(OptionalMask, "optional_mask", nn::input("x", {4}));
SONDE_MODEL(GivenMask, "given_mask", nn::input("x", {4}), nn::input("mask", {4}));
SONDE_MODEL(Pairs, "pairs", nn::input("x", {2, 3}));

}  // namespace throwing
