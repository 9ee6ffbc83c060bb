#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/thread_pool.h"
#include "core/tensor/attribute.h"
#include "core/tensor/symbolic.h"
#include "core/tensor/type_info.h"
#include "core/tensor/value.h"

namespace sonde::ops {

using tensor::Attributes;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

/// What an operator is for, in the groups that users of model viewers know. Gives the node its colour.
enum class Category : std::uint8_t {
    Layer,  ///< convolution, matrix product, recurrent layers
    Activation,
    Pool,
    Normalization,
    Elementwise,
    Reduction,
    Transform,  ///< transpose, resize, pad
    Shape,      ///< reshape, flatten, shape queries
    Tensor,     ///< concat, split, gather, slice
    Data,       ///< constants, ranges, random
    Quantization,
    Attention,
    Dropout,
    Control,   ///< if, loop, scan
    Logic,     ///< comparison, boolean, bit operations
    Sequence,  ///< sequences, maps, optionals, strings
    Other,
};
std::string_view name(Category category);

/// Runs the body graph that an attribute names (If, Loop, Scan). Given to kernels by the executor.
class BodyRunner {
  public:
    virtual ~BodyRunner() = default;
    /// `iteration` numbers the passes of a loop, so that values of every pass can be told apart.
    virtual base::Result<std::vector<Value>> run(std::size_t body, std::span<const Value> inputs,
                                                 std::int64_t iteration) = 0;
};

/// Where the memory of outputs comes from: the executor's arena, or the heap.
class OutputAllocator {
  public:
    virtual ~OutputAllocator() = default;
    virtual base::Result<Tensor> allocate(std::size_t output, DType dtype, const Shape& shape) = 0;
};

/// What an operator keeps between calls for constant inputs: packed weights, a convolution plan.
class PreparedState {
  public:
    virtual ~PreparedState() = default;
};

/// Everything that outlives one kernel call and that all kernels of a run share.
struct RunEnvironment {
    base::ThreadPool* pool = nullptr;  ///< never null while a kernel runs
    std::stop_token stop;              ///< long kernels ask now and then
    std::uint64_t seed = 0;            ///< of random operators
    bool exact = false;                ///< no rounding-changing short cuts (Winograd): compare with tight tolerances
};

struct OpDef;

/// An input or output by its name in the schema, and the one that other rows with the same kernel have for it:
/// {"A", "self"}.
struct Name {
    std::string_view name, other;
    Name(const char* only) : name(only) {}
    Name(std::nullptr_t) = delete;  ///< a position 0 where only names are taken
    Name(std::string_view first, std::string_view second = {}) : name(first), other(second) {}
};

/// Where rows have the tensors that they compute with, for families of operators that share kernels and inference and
/// whose schemas name them differently (X, input, data, self …): the one, or the two of it.
inline constexpr std::size_t kOperand = 0, kLeft = 0, kRight = 1;

/// One call of a kernel. Inputs were checked against the operator's signature: count, kinds and dtypes are right, every
/// tensor is contiguous (unless OpDef::acceptsStrided), attributes have the right types and defaults filled in.
/// Inputs and outputs are found by name in the row that runs, `op`; by position where one name stands for several, or
/// where a family of operators shares a kernel. A name that the row lacks is an error of the program, which ends the
/// kernel (std::logic_error, which `call` turns into an Error); `has`, `optionalIn` and `wants` take it for absent,
/// because other versions of the operator may have it. tst_parameter_names holds names against the rows.
class KernelContext {
  public:
    KernelContext(std::span<const Value> inputs, const Attributes& attributes, std::size_t outputCount,
                  RunEnvironment& environment, const OpDef* op = nullptr);

    std::size_t inputCount() const { return m_inputs.size(); }
    /// False for an optional input that is left out.
    bool has(std::size_t input) const { return input < m_inputs.size() && !m_inputs[input].isNone(); }
    const Value& value(std::size_t input) const { return m_inputs[input]; }
    const Tensor& in(std::size_t input) const { return m_inputs[input].tensor(); }
    bool has(Name input) const;
    /// None for an optional input that is left out.
    const Value& value(Name input) const;
    const Tensor& in(Name input) const { return value(input).tensor(); }
    /// Null for an optional input that is left out.
    const Tensor* optionalIn(Name input) const;
    /// Where the input is in a call; the first of a variadic one.
    std::size_t position(Name input) const;
    const Attributes& attributes() const { return m_attributes; }

    std::size_t outputCount() const { return m_outputs.size(); }
    /// False for an output that nobody reads.
    bool wants(std::size_t output) const { return output < m_outputs.size(); }
    /// Memory for an output, contiguous, not initialised; also sets it as the output's value (tensors share storage).
    base::Result<Tensor> output(std::size_t output, DType dtype, const Shape& shape);
    /// Any other value as output: a view of an input, a list, a scalar.
    void setOutput(std::size_t output, Value value) { m_outputs[output] = std::move(value); }
    bool wants(Name output) const;
    base::Result<Tensor> output(Name output, DType dtype, const Shape& shape);
    void setOutput(Name output, Value value);
    // Of an operator with one output.
    base::Result<Tensor> output(DType dtype, const Shape& shape) { return output(std::size_t{0}, dtype, shape); }
    void setOutput(Value value) { m_outputs[0] = std::move(value); }
    /// Working memory for this call.
    base::Result<Tensor> scratch(DType dtype, const Shape& shape) { return Tensor::allocate(dtype, shape); }

    base::ThreadPool& pool() { return *m_environment.pool; }
    bool cancelled() const { return m_environment.stop.stop_requested(); }
    RunEnvironment& environment() { return m_environment; }
    /// What OpDef::prepare made for this expr, or null.
    template <typename T>
    const T* prepared() const {
        return static_cast<const T*>(m_prepared);
    }
    BodyRunner* bodies() { return m_bodies; }
    /// The opset version that the model was written for (of this operator's domain).
    int version() const { return m_version; }

    // Set by the executor.
    std::vector<Value> takeOutputs() { return std::move(m_outputs); }
    void setOutputs(std::vector<Value> outputs) { m_outputs = std::move(outputs); }
    void setPrepared(const PreparedState* prepared) { m_prepared = prepared; }
    void setBodies(BodyRunner* bodies) { m_bodies = bodies; }
    void setAllocator(OutputAllocator* allocator) { m_allocator = allocator; }
    void setVersion(int version) { m_version = version; }
    /// Runs the kernel of another row with these inputs, in that row's order.
    base::Result<void> runAs(const OpDef& op);

  private:
    std::span<const Value> m_inputs;
    const Attributes& m_attributes;
    std::vector<Value> m_outputs;
    RunEnvironment& m_environment;
    const PreparedState* m_prepared = nullptr;
    BodyRunner* m_bodies = nullptr;
    OutputAllocator* m_allocator = nullptr;
    const OpDef* m_op;
    int m_version = 0;
};

/// Numbers that may depend on dimensions not known before a run.
using Elements = std::vector<tensor::Symbolic>;

/// One call of shape and dtype inference. Nothing has to be known of an input; outputs left unset are unknown. Names
/// are found as in a KernelContext; `has`, `constant` and `elements` take one that the row lacks for absent.
class InferContext {
  public:
    /// `elements`: see elements(); may be shorter than `inputs`.
    InferContext(std::span<const TypeInfo> inputs, std::span<const Value> constants, const Attributes& attributes,
                 std::size_t outputCount, std::span<const std::optional<Elements>> elements = {},
                 const OpDef* op = nullptr)
        : m_inputs(inputs), m_constants(constants), m_attributes(attributes), m_elements(elements),
          m_outputs(outputCount), m_known(outputCount), m_outputElements(outputCount), m_op(op) {}

    std::size_t inputCount() const { return m_inputs.size(); }
    bool has(std::size_t input) const {
        return input < m_inputs.size() && m_inputs[input].kind != tensor::ValueKind::None;
    }
    /// What is known of an input; an empty TypeInfo beyond the end.
    const TypeInfo& in(std::size_t input) const;
    /// The input's value if it is known before the run (a constant, or a shape computation that was followed).
    /// None otherwise.
    const Value& constant(std::size_t input) const;
    /// The input's numbers as far as they are known before the run, in symbols: of a scalar, a list, a 1-D tensor of
    /// integers or of scales. Single elements may be unknown; nothing if not even their count is known.
    std::optional<Elements> elements(std::size_t input) const;
    bool has(Name input) const;
    const TypeInfo& in(Name input) const { return in(position(input)); }
    const Value& constant(Name input) const;
    std::optional<Elements> elements(Name input) const;
    /// Where the input is in a call; the first of a variadic one.
    std::size_t position(Name input) const;
    const Attributes& attributes() const { return m_attributes; }
    std::size_t outputCount() const { return m_outputs.size(); }
    void set(std::size_t output, TypeInfo type) {
        if (output < m_outputs.size()) m_outputs[output] = std::move(type);
    }
    /// The output's value is known too (Shape of a static shape …).
    void setKnown(std::size_t output, Value value) {
        if (output < m_known.size()) m_known[output] = std::move(value);
    }
    /// The same in symbols (Shape of [N,3]).
    void setElements(std::size_t output, Elements elements) {
        if (output < m_outputs.size()) m_outputElements[output] = std::move(elements);
    }
    void set(Name output, TypeInfo type);
    // Of an operator with one output.
    void set(TypeInfo type) { set(std::size_t{0}, std::move(type)); }
    void setKnown(Value value) { setKnown(std::size_t{0}, std::move(value)); }
    void setElements(Elements elements) { setElements(std::size_t{0}, std::move(elements)); }
    /// What another row infers of these inputs, in that row's order.
    base::Result<void> inferAs(const OpDef& op);
    const std::vector<TypeInfo>& outputs() const { return m_outputs; }
    const std::vector<Value>& known() const { return m_known; }
    const std::vector<std::optional<Elements>>& knownElements() const { return m_outputElements; }

  private:
    std::span<const TypeInfo> m_inputs;
    std::span<const Value> m_constants;
    const Attributes& m_attributes;
    std::span<const std::optional<Elements>> m_elements;
    std::vector<TypeInfo> m_outputs;
    std::vector<Value> m_known;
    std::vector<std::optional<Elements>> m_outputElements;
    const OpDef* m_op;
};

/// The numbers of a value: of a number, a list of numbers, a tensor of rank 0 or 1. Nothing of anything else, or of
/// more than 256.
std::optional<Elements> elementsOf(const Value& value);

/// A set of dtypes as bits.
using DTypeSet = std::uint32_t;
constexpr DTypeSet bit(DType dtype) { return DTypeSet{1} << static_cast<unsigned>(dtype); }
inline constexpr DTypeSet kAnyDType = ~DTypeSet{0};

enum class Arity : std::uint8_t { One, Optional, Variadic };

/// An input or output as the specification lists it.
struct Formal {
    std::string_view name;
    DTypeSet dtypes = kAnyDType;  ///< allowed if it is a tensor
    Arity arity = Arity::One;
    bool tensorOnly = true;              ///< false: any kind of value
    std::string_view typeVariable = {};  ///< inputs with the same letter must have the same dtype ("T"); empty: free
};

enum class AttributeKind : std::uint8_t { Int, Float, String, Tensor, Ints, Floats, Strings, Tensors, Body, Type, Any };

struct FormalAttribute {
    std::string_view name;
    AttributeKind kind = AttributeKind::Any;
    /// Filled in when absent; nothing: optional without a default.
    std::optional<tensor::AttributeValue> fallback = std::nullopt;
    bool required = false;
};

/// A parameter of an operator that takes plain values by position and by name (domain "aten").
struct Parameter {
    std::string_view name;
    std::string_view type;  ///< as in the schema: "Tensor", "int[2]", "float", "Scalar", "Tensor?", "bool"
    std::optional<Value> fallback = std::nullopt;
    bool keywordOnly = false;
};

struct OpDef;

/// Those inputs of an operator that are constant, found as in a KernelContext; None where an input is not, or is not
/// given.
class Constants {
  public:
    /// By position, None where not constant. `op` is the row that prepares.
    Constants(std::span<const Value> values, const OpDef& op) : m_values(values), m_op(op) {}

    const Value& operator[](Name input) const;
    const Value& operator[](std::size_t position) const;
    /// The same for a row that another one prepares as.
    Constants of(const OpDef& op) const { return {m_values, op}; }

  private:
    std::span<const Value> m_values;
    const OpDef& m_op;
};

/// One operator, from one version on: everything that the program knows about it.
struct OpDef {
    std::string_view domain;   ///< "" is ai.onnx; "ai.onnx.ml", "com.microsoft", "aten", "prim"
    std::string_view name;     ///< "Conv"; for aten with the overload: "add.Tensor"
    int since = 1;             ///< first opset version with this behaviour
    std::string_view summary;  ///< one line of help
    Category category = Category::Other;
    std::vector<Formal> inputs = {};
    std::vector<Formal> outputs = {};
    std::vector<FormalAttribute> attributes = {};
    std::vector<Parameter> parameters = {};  ///< aten: the schema; inputs are then Values by position
    std::function<base::Result<void>(KernelContext&)> kernel = {};
    std::function<base::Result<void>(InferContext&)> infer = {};
    /// Called once per plan with what is constant; may return null.
    std::function<base::Result<std::unique_ptr<PreparedState>>(const Constants& constants, const Attributes&,
                                                               RunEnvironment&)>
        prepare = {};
    bool random = false;          ///< never folded, never cached
    bool acceptsStrided = false;  ///< the kernel reads views as they are
    bool deprecated = false;      ///< known, but gone from this version on

    /// Where an input is in a call; `inputs.size()` if the row lacks it.
    std::size_t position(Name input) const;
};

/// Every operator, looked up by domain, name and the opset version that the model imports. Immutable after start.
class Registry {
  public:
    /// The table of all operators, built on first use.
    static const Registry& all();

    void add(OpDef def);
    /// The row with the largest `since` that is not above `version`; null if there is none. "ai.onnx" equals "".
    /// Version 0 is for domains without versions (aten): the newest row.
    const OpDef* find(std::string_view domain, std::string_view name, int version) const;
    /// Any version at all: to tell "unknown operator" from "unknown version".
    bool knows(std::string_view domain, std::string_view name) const;
    /// Every row, sorted by domain, name, since.
    std::vector<const OpDef*> rows() const;

  private:
    std::map<std::string, std::map<int, OpDef>, std::less<>> m_rows;  ///< "domain::name" → since → row
};

/// Generated from the files in core/ops.
void defineAll(Registry& registry);
/// ATen's other names for operators of the table, and their in-place forms ("clamp_" of "clamp"). Called last.
void defineDerived(Registry& registry);

/// Checks inputs and attributes against the signature, fills attribute defaults, makes tensors contiguous, calls the
/// kernel and checks that every wanted output is set. Errors name the operator and the types of its inputs.
base::Result<std::vector<Value>> call(const OpDef& op, std::span<const Value> inputs, const Attributes& attributes,
                                      std::size_t outputCount, RunEnvironment& environment, int version = 0,
                                      const PreparedState* prepared = nullptr, BodyRunner* bodies = nullptr,
                                      OutputAllocator* allocator = nullptr);

/// The same call with attributes that were already completed by `completeAttributes` (done once per plan).
base::Result<std::vector<Value>> callPrepared(const OpDef& op, std::span<const Value> inputs,
                                              const Attributes& completeAttributes, std::size_t outputCount,
                                              RunEnvironment& environment, int version, const PreparedState* prepared,
                                              BodyRunner* bodies, OutputAllocator* allocator);
base::Result<Attributes> completeAttributes(const OpDef& op, const Attributes& attributes);

/// What inference found out about the outputs: types, and values where they are known before a run (None elsewhere).
struct Inferred {
    std::vector<TypeInfo> types;
    std::vector<Value> known;
};

/// Completes attributes, checks what is known of the inputs against the signature and runs the operator's inference.
/// `constants` has one value per input, None where it is not known; it may be shorter. Unknown stays unknown; an Error
/// means that no input of these types can be run.
base::Result<Inferred> infer(const OpDef& op, std::span<const TypeInfo> inputs, std::span<const Value> constants,
                             const Attributes& attributes, std::size_t outputCount);

}  // namespace sonde::ops
