#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// Calls its children one after the other: y = f_n(… f_1(x)). Tracers go through it.
class Sequential : public Module {
  public:
    Sequential() = default;
    explicit Sequential(std::vector<std::shared_ptr<Module>> modules);
    std::string className() const override { return "Sequential"; }
    Var forward(std::span<const Var> in) override;
    void append(std::shared_ptr<Module> module);
};

/// Modules by number. Has no forward: its owner calls the elements.
class ModuleList : public Layer {
  public:
    explicit ModuleList(std::vector<std::shared_ptr<Module>> modules = {});
    void append(std::shared_ptr<Module> module);
    std::size_t size() const { return children().size(); }
    Module& operator[](std::size_t index) const { return *children()[index].module; }
};

/// Modules by key. Has no forward: its owner calls the elements.
class ModuleDict : public Layer {
  public:
    explicit ModuleDict(std::vector<std::pair<std::string, std::shared_ptr<Module>>> modules = {});
    Module& operator[](std::string_view key) const;
};

/// Free parameters by number: "0", "1" …
class ParameterList : public Layer {
  public:
    explicit ParameterList(std::vector<Tensor> values = {});
    void append(Tensor value) {
        m_parameters.push_back(addParameter(std::to_string(m_parameters.size()), std::move(value)));
    }
    std::size_t size() const { return m_parameters.size(); }
    const Attribute& operator[](std::size_t index) const { return m_parameters[index]; }

  private:
    std::vector<Attribute> m_parameters;
};

/// Free parameters by key.
class ParameterDict : public Layer {
  public:
    explicit ParameterDict(std::vector<std::pair<std::string, Tensor>> values = {});
    /// Throws TraceError (KeyError) for a key that is not there.
    Attribute operator[](std::string_view key) const;
};

/// y = x.
class Identity : public Layer {
  public:
    Identity() : Layer("Identity") {}
    Var forward(std::span<const Var> in) override { return in[0]; }
};

/// x [d0, …] -> axes start…end (inclusive, negative from the end) as one.
class Flatten : public Layer {
  public:
    explicit Flatten(std::int64_t start = 1, std::int64_t end = -1) : Layer("Flatten"), m_start(start), m_end(end) {}
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    std::int64_t m_start;
    std::int64_t m_end;
};

/// One axis as several: [.., d, ..] -> [.., sizes.., ..].
class Unflatten : public Layer {
  public:
    Unflatten(std::int64_t dim, Ints sizes) : Layer("Unflatten"), m_dim(dim), m_sizes(std::move(sizes)) {}
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    std::int64_t m_dim;
    Ints m_sizes;
};

}  // namespace sonde::nn
