#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sonde::operators {

/// What an operator computes, whichever vocabulary it is spelled in: ONNX, ATen, the operators of Python (prim).
/// Operators of one class are handled alike; what they differ in is told by their other traits and their arguments.
// clang-format off
enum class OpClass : std::uint8_t {
    Other,
    // Arithmetic and functions of single elements
    Add, Sub, ReverseSub, Mul, Div, Neg, Pow, Exp, Log, Sqrt, ReciprocalSqrt, Reciprocal, Sigmoid, Relu, LeakyRelu, Maximum, Minimum,
    Equal, NotEqual, Not, And, Or, Where, MaskedFill, Clip, Cast,
    Arithmetic,  ///< other pure operators of Python: floordiv, mod, le, ge, item …
    // Layers
    Conv, ConvTranspose, Linear, MatMul, MatrixProduct, AddMatrixProduct, BatchMatrixProduct, Recurrent, Embedding, EmbeddingBag,
    MultiHeadAttention, EncoderLayer, BatchNorm,
    BatchNormWithStatistics,  ///< returns the statistics as well
    LayerNorm, MaxPool, AveragePool, Resample, Softmax, Dropout,
    // Reductions
    Sum, Mean, Reduce,
    // Shapes, views, parts
    Reshape, Transpose, ExpandDims, Concat, Stack, Index, Slice, Select, View, ListView, Identity, Clone, Shape,
    // New values
    Create, Random, Range,
    // Writes
    Copy, Fill, Zero, SetItem,
    // Containers and control of Python and ONNX
    Construct, ConstructTuple, ConstructDict, Unpack, Append, GetAttr, If, Conditional, Loop, Scan, SequenceMap, Gradient, Dequantize,
    // What is there for its effect
    Assertion, Marker,
};
// clang-format on

/// How the elements of a view stand in those of the first argument. Whether there is a view at all says `Sharing`.
enum class ViewForm : std::uint8_t {
    None,
    Same,        ///< all of it as it is: detach
    Contiguous,  ///< the same, moved into row-major order where it is not in it
    Converted,   ///< the same, converted where dtype or device are others: to, type_as, float
    // All elements in the same order, in another shape
    NewShape,   ///< to a shape that is given: view, reshape
    LikeOther,  ///< to another tensor's shape: view_as
    Flatten,
    Unflatten,
    Squeeze,
    Unsqueeze,
    AtLeast,  ///< with dimensions of 1 in front or behind: atleast_2d
    // All elements in another order
    Transpose,  ///< its own inverse with the same arguments: transpose, t, mT
    Adjoint,    ///< the same with complex conjugates: mH
    Conjugate,
    Permute,
    MoveDim,
    // Some elements
    Slice,
    Select,
    Narrow,
    Diagonal,
    Index,  ///< x[index] of Python: a part, or a copy of selected elements
    // Lists of parts that cover the argument
    Chunk,
    Split,
    TensorSplit,
    HorizontalSplit,
    VerticalSplit,
    DepthSplit,
    Unbind,
    // An element may be in several places
    Expand,
    Broadcast,  ///< several tensors: broadcast_tensors, meshgrid
    Window,     ///< unfold, as_strided
    // The same bytes as other numbers
    AsReal,
    AsComplex,
};

/// The elements of the argument in the same order, in another shape.
constexpr bool keepsOrder(ViewForm form) { return form >= ViewForm::NewShape && form <= ViewForm::AtLeast; }
/// One part along one dimension: slice, select, narrow.
constexpr bool cutsPart(ViewForm form) { return form >= ViewForm::Slice && form <= ViewForm::Narrow; }
/// Parts of chosen or equal lengths along one dimension, or its single elements; where they are is told by the
/// arguments.
constexpr bool cutsList(ViewForm form) {
    return form == ViewForm::Chunk || form == ViewForm::Split || form == ViewForm::Unbind;
}

/// How the result of an operator stands to the memory of its arguments.
enum class Sharing : std::uint8_t {
    Fresh,      ///< memory of its own
    View,       ///< elements of the first argument's memory
    MaybeView,  ///< a view where nothing has to be moved or converted, else a copy: reshape, contiguous, to
    Written,    ///< the written argument itself: what `add_` returns
    Holds,      ///< a list, tuple or dict with the arguments in it, or one taken out again
};

/// What an operator does with the memory of its tensors, as PyTorch documents it.
struct MemoryEffect {
    Sharing sharing = Sharing::Fresh;
    bool isList = false;   ///< the result is a list of views: chunk, split, unbind
    bool writes = false;   ///< changes elements of its first argument (or of `out`)
    bool reforms = false;  ///< gives its first argument, the tensor object, another shape: unsqueeze_, t_
};

/// Whether a result is dense in row-major order in memory, with PyTorch's default memory format.
enum class Density : std::uint8_t {
    Unknown,
    Always,         ///< made anew: zeros
    LikeArguments,  ///< if all tensors among the arguments are
};

/// What of a tensor's shape an operator returns, reading nothing else of it.
enum class ShapeQuery : std::uint8_t {
    None,
    Shape,   ///< all dimensions as a list or 1-D tensor, or one of them: Shape, size, size.int
    Rank,    ///< dim
    Count,   ///< numel
    Length,  ///< of a list, or the first dimension: len
};

/// A property that an operator has or lacks.
enum class Trait : std::uint32_t {
    ElementWise = 1u << 0,  ///< an output element depends on the input elements of its index alone (after broadcasting)
    Broadcasts = 1u << 1,   ///< broadcasts several inputs to the result's shape
    KeepsShape = 1u << 2,   ///< the result has the first input's shape
    KeepsDType = 1u << 3,   ///< the result has the first input's dtype, if that is a floating one
    KeepsRank = 1u << 4,    ///< the result has the first input's rank
    KeepsChannels = 1u << 5,  ///< the result has the first input's rank, batch and channels
    SlidesWindow = 1u << 6,   ///< with kernel_size, stride, padding: pooling
    MovesData = 1u << 7,      ///< results hold elements of the input, none computed
    StaysSmall =
        1u << 8,         ///< results have no more dimensions than the largest input, or one more: arithmetic on shapes
    Random = 1u << 9,    ///< draws numbers; dropout and rrelu only while training
    InPlace = 1u << 10,  ///< this name writes to its first argument: add_
    HasInPlaceForm = 1u << 11,  ///< there is a form `name_` (`__iand__` of `__and__`)
    Overlaps = 1u << 12,  ///< of a view: several elements may be one place in memory, so that PyTorch refuses writes
    MayTranspose = 1u << 13,  ///< a convolution whose argument `transposed` says which one
    Effect = 1u << 14,        ///< runs whether anybody reads its result: checks a value and may end the run
    ChecksFirst = 1u << 15,   ///< the first argument is a condition that must hold: _assert
    KeepsInts = 1u << 16,     ///< of Python: ints give an int
    Convolves = 1u << 17,     ///< a convolution or one fused with more
    Multiplies = 1u << 18,    ///< a matrix product or one fused with more
    Attends = 1u << 19,       ///< attention, or the softmax that it has as a part
    ConvertsValues =
        1u << 20,  ///< its in-place form converts what it writes; arithmetic must not turn floats into integers
    ReturnsError = 1u << 21,  ///< returns the largest difference that it found
};

/// What an input is for, one letter for each position in `Traits::inputs`; the last one stands for all that follow.
enum class InputRole : char {
    Unsaid = ' ',  ///< the parameter's name tells
    Data = '-',    ///< never a weight
    Weight = 'W',
    Embedding = 'E',  ///< a table whose rows are looked up
    Quantized = 'Q',
    Statistic = 'S',         ///< running mean and variance
    ChannelStatistic = 'M',  ///< subtracted or divided by: a statistic if it has one element for each channel
    Affine = 'A',            ///< a weight if it has one element for each channel
    Through = 'T',           ///< what the users of the result take it for
    Operand = 'o',
};

/// What an operator is, said once. Needs no kernel: folders below the registry ask here.
struct Traits {
    OpClass opClass = OpClass::Other;
    ViewForm form = ViewForm::None;
    MemoryEffect memory;
    Density density = Density::Unknown;
    ShapeQuery query = ShapeQuery::None;
    std::uint8_t spatialDims = 0;    ///< N of convNd, max_poolNd, upsample_…Nd; 0 if the name does not tell
    std::uint32_t bits = 0;          ///< of Trait
    std::string_view inputs;         ///< letters of InputRole
    std::uint8_t packedBits = 0;     ///< of one weight, where several are packed into a byte; 0: they are not
    std::string_view bitsAttribute;  ///< the attribute that says `packedBits` instead

    constexpr bool is(Trait trait) const { return (bits & static_cast<std::uint32_t>(trait)) != 0; }
    constexpr InputRole inputRole(std::size_t index) const {
        if (inputs.empty()) return InputRole::Unsaid;
        return static_cast<InputRole>(inputs[index < inputs.size() ? index : inputs.size() - 1]);
    }
    /// The first input unchanged, at inference: identities and dropout.
    constexpr bool isIdentityAtInference() const { return opClass == OpClass::Identity || opClass == OpClass::Dropout; }
    /// May show the first argument's memory.
    constexpr bool mayBeView() const { return memory.sharing == Sharing::View || memory.sharing == Sharing::MaybeView; }
    /// A write that changes elements and returns the argument: add_, not unsqueeze_.
    constexpr bool isWrite() const { return memory.writes && !memory.reforms; }

    // For the tables.
    constexpr Traits as(OpClass value) const {
        Traits copy = *this;
        copy.opClass = value;
        return copy;
    }
    constexpr Traits with(Trait trait) const {
        Traits copy = *this;
        copy.bits |= static_cast<std::uint32_t>(trait);
        return copy;
    }
    constexpr Traits without(Trait trait) const {
        Traits copy = *this;
        copy.bits &= ~static_cast<std::uint32_t>(trait);
        return copy;
    }
    constexpr Traits dims(std::uint8_t count) const {
        Traits copy = *this;
        copy.spatialDims = count;
        return copy;
    }
    constexpr Traits takes(std::string_view letters) const {
        Traits copy = *this;
        copy.inputs = letters;
        return copy;
    }
    constexpr Traits packed(std::uint8_t count, std::string_view attribute = {}) const {
        Traits copy = *this;
        copy.packedBits = count;
        copy.bitsAttribute = attribute;
        return copy;
    }
    constexpr Traits of(Density value) const {
        Traits copy = *this;
        copy.density = value;
        return copy;
    }
};

constexpr std::uint32_t operator|(Trait a, Trait b) {
    return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b);
}
constexpr std::uint32_t operator|(std::uint32_t a, Trait b) { return a | static_cast<std::uint32_t>(b); }

/// The traits of an operator as a graph names it, in constant time: with or without overload ("add.Tensor", "add.out"),
/// in place ("add_"), under another name ("subtract"). Domains: "" and "ai.onnx", "com.microsoft", "aten", "prim",
/// "sonde". An operator that is not in the tables has no traits but those that its name tells: `frobnicate_` of aten
/// writes.
const Traits& traitsOf(std::string_view domain, std::string_view operatorName);
/// The operators of ATen that have an in-place form, sorted, with other names of them ("absolute").
std::vector<std::string_view> operatorsWithInPlaceForm();

}  // namespace sonde::operators
