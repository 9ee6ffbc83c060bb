// FLOPs of layers: convolutions, products, attention, recurrent layers, pooling.

#include <algorithm>
#include <map>

#include "core/operators/cost_rules.h"
#include "core/operators/names.h"

namespace sonde::operators {

using tensor::TypeInfo;

namespace {

/// Elements of a weight that one element of its first dimension has: [out, in/groups, k…] -> in/groups·k….
Symbolic afterFirst(const CallReader& call, const TypeInfo& weight) {
    if (!weight.shape || weight.shape->size() < 2) return {};
    Symbolic product = number(1);
    for (std::size_t i = 1; i < weight.shape->size(); ++i)
        product = product * call.dim(weight, static_cast<std::int64_t>(i));
    return product;
}

Work withBias(const CallReader& call, Work work) { return call.hasBias() ? work + Work::of(call.out()) : work; }

}  // namespace

Symbolic rowsOf(const CallReader& call, const TypeInfo& type) {
    if (!type.shape || type.shape->empty()) return {};
    Symbolic product = number(1);
    for (std::size_t i = 0; i + 1 < type.shape->size(); ++i)
        product = product * call.dim(type, static_cast<std::int64_t>(i));
    return product;
}

Work convolution(const CallReader& call) {
    return withBias(call, Work::products(call.out() * afterFirst(call, call.input(call.weight()))));
}

/// Each element of the input goes to as many of the result as the weight [in, out/groups, k…] has for its channel.
Work transposedConvolution(const CallReader& call) {
    return withBias(call, Work::products(call.in() * afterFirst(call, call.input(call.weight()))));
}

Work matrixProduct(const CallReader& call) {
    const OpClass opClass = call.traits().opClass;
    const bool isAten = call.isAten();
    // addmm, baddbmm and the like have the summand first.
    const bool summandFirst =
        isAten && (opClass == OpClass::AddMatrixProduct || call.tensorCount() == 3) && opClass != OpClass::Linear;
    const TypeInfo& left = call.input(summandFirst ? 1 : 0);
    Symbolic inner = call.dim(left, !isAten && call.attribute("transA", 0) != 0 ? -2 : -1);
    if (const std::int64_t packed = call.attribute("K", 0); packed > 0) inner = number(packed);
    Work work = Work::products(call.out() * inner);
    const bool hasSummand = summandFirst || (opClass == OpClass::Linear && call.hasTensor(2)) ||
                            (!isAten && opClass == OpClass::AddMatrixProduct && call.hasTensor(2));
    return hasSummand ? work + Work::of(call.out()) : work;
}

namespace {

using LetterSizes = std::map<char, Symbolic>;

Symbolic sizeOf(const std::string& letters, const LetterSizes& sizes) {
    Symbolic all = number(1);
    for (const char letter : letters) all = all * sizes.at(letter);
    return all;
}

/// For the order of products: open dimensions are taken to be of a typical size.
double typicalSize(const std::string& letters, const LetterSizes& sizes) {
    constexpr std::int64_t kTypical = 64;
    double all = 1;
    for (const char letter : letters) all *= static_cast<double>(sizes.at(letter).constant().value_or(kTypical));
    return all;
}

std::string unionOf(const std::string& a, const std::string& b) {
    std::string all = a;
    for (const char letter : b)
        if (all.find(letter) == std::string::npos) all += letter;
    return all;
}

/// Of the letters of operands `a` and `b` those that the result or another operand has.
std::string keptOf(const std::vector<std::string>& operands, std::size_t a, std::size_t b, const std::string& result) {
    std::string others = result;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (i != a && i != b) others += operands[i];
    std::string kept = unionOf(operands[a], operands[b]);
    std::erase_if(kept, [&others](char letter) { return others.find(letter) == std::string::npos; });
    return kept;
}

/// Two at a time, those with the smallest result first: the order in which the kernel multiplies.
Work contractedInTurn(std::vector<std::string> operands, const std::string& result, const LetterSizes& sizes) {
    Work work = Work::none();
    while (operands.size() > 1) {
        std::size_t first = 0, second = 1;
        for (std::size_t a = 0; a < operands.size(); ++a)
            for (std::size_t b = a + 1; b < operands.size(); ++b)
                if (typicalSize(keptOf(operands, a, b, result), sizes) <
                    typicalSize(keptOf(operands, first, second, result), sizes))
                    first = a, second = b;
        const std::string all = unionOf(operands[first], operands[second]);
        const std::string kept = keptOf(operands, first, second, result);
        const Symbolic products = sizeOf(all, sizes);
        work = work + (kept.size() < all.size() ? Work::products(products) : Work::of(products));
        operands[first] = kept;
        operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(second));
    }
    return work;
}

}  // namespace

/// Operands with a letter for each dimension; several in the order of contractedInTurn().
Work einsumProduct(const CallReader& call) {
    const tensor::Value& first = call.constant(0);
    const bool isText = first.kind() == tensor::ValueKind::String;
    std::string equation = call.isAten() ? (isText ? first.toString() : "") : call.attributeText("equation", "");
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    if (arrow == std::string::npos || equation.find('.') != std::string::npos) return {};
    std::vector<TypeInfo> operands;
    if (call.isAten()) operands = call.input(1).elements;
    else
        for (std::size_t i = 0; call.hasTensor(i); ++i) operands.push_back(call.input(i));
    LetterSizes sizes;
    std::vector<std::string> letters(1);
    std::size_t axis = 0;
    for (const char letter : equation.substr(0, arrow)) {
        if (letter == ',') {
            letters.emplace_back();
            axis = 0;
            continue;
        }
        if (letters.size() > operands.size()) return {};
        const Symbolic size = call.dim(operands[letters.size() - 1], static_cast<std::int64_t>(axis++));
        Symbolic& known = sizes.try_emplace(letter, size).first->second;
        if (known == number(1)) known = size;  // broadcast
        if (letters.back().find(letter) == std::string::npos) letters.back() += letter;
    }
    const std::string result = equation.substr(arrow + 2);
    constexpr std::size_t kMaxOperands = 16;
    const bool isKnown = std::ranges::all_of(result, [&sizes](char letter) { return sizes.contains(letter); });
    if (letters.size() != operands.size() || letters.size() > kMaxOperands || !isKnown) return {};
    if (letters.size() > 1) return contractedInTurn(std::move(letters), result, sizes);
    const bool sums =
        std::ranges::any_of(sizes, [&](const auto& each) { return result.find(each.first) == std::string::npos; });
    return sums ? Work::of(sizeOf(letters.front(), sizes)) : Work::none();
}

/// aten::bilinear(x1 […, n], x2 […, m], weight [out, n, m], bias): A·x2 for each matrix of the weight, then x1 · that.
Work bilinearProduct(const CallReader& call) {
    const TypeInfo& weight = call.input(2);
    const Symbolic n = call.dim(weight, 1), m = call.dim(weight, 2);
    const Work work = Work::products(call.out() * (n * m + n));
    return call.hasTensor(3) ? work + Work::of(call.out()) : work;
}

/// aten::cdist(x1 […, P, M], x2 […, R, M]): for each pair difference, power and sum over M, and the root.
Work distances(const CallReader& call) {
    return Work::of(call.out() * (number(3) * call.dim(call.input(0), -1) + number(1)));
}

Work attended(const Symbolic& scoreProducts, const Symbolic& valueProducts, const Symbolic& pairs, bool isMasked) {
    return Work::products(scoreProducts + valueProducts) + Work::of(number(isMasked ? 7 : 6) * pairs);
}

/// (query, key, value, mask …): [batch, heads, positions, size], or [batch, positions, heads·size] with the heads in an
/// attribute.
Work attention(const CallReader& call) { return attention(call, call.domain() == "com.microsoft" ? 6 : 4); }

Work attention(const CallReader& call, std::size_t pastAt) {
    const TypeInfo &query = call.input(0), &key = call.input(1);
    const bool hasHeads = call.rank(0) == 4 || call.isAten();
    Symbolic keys = call.dim(key, hasHeads ? -2 : 1);
    if (!call.isAten() && call.hasTensor(pastAt)) keys = keys + call.dim(call.input(pastAt), 2);
    const std::int64_t heads = call.attribute("q_num_heads", call.attribute("num_heads", 0));
    if (!hasHeads && (call.rank(0) != 3 || call.rank(1) != 3 || heads < 1)) return {};
    const Symbolic positions = hasHeads ? rowsOf(call, query) : rowsOf(call, query) * number(heads);
    const bool isMasked = call.hasTensor(3) && call.domain() != "com.microsoft";
    return attended(call.in() * keys, call.out() * keys, positions * keys, isMasked);
}

/// aten::_native_multi_head_attention(query, key, value, embed_dim, num_head, …): [batch, positions, size].
Work selfAttention(const CallReader& call) {
    const auto heads = call.integer(4);
    if (!heads) return {};
    const Symbolic queries = rowsOf(call, call.input(0)), keys = rowsOf(call, call.input(1)),
                   size = call.dim(call.input(0), -1), length = call.dim(call.input(1), 1);
    const Symbolic projected = number(2) * queries * size + number(2) * keys * size;
    return Work::products(projected * size) + Work::of(projected) +
           attended(queries * length * size, queries * length * size, queries * length * number(*heads),
                    call.hasTensor(9));
}

/// aten::_transformer_encoder_layer_fwd(src, embed_dim, num_heads, …, ffn_weight_1 at 14 …, mask at 18).
Work encoderLayer(const CallReader& call) {
    const auto heads = call.integer(2);
    if (!heads) return {};
    const Symbolic positions = rowsOf(call, call.input(0)), size = call.dim(call.input(0), -1),
                   length = call.dim(call.input(0), 1), hidden = call.dim(call.input(14), 0);
    const Symbolic products = number(4) * positions * size * size + number(2) * positions * size * hidden;
    const Symbolic biases = number(5) * positions * size + number(2) * positions * hidden;  // and the activation
    const Symbolic normsAndSums = number(2 * 7 + 2) * positions * size;
    return Work::products(products) + Work::of(biases + normsAndSums) +
           attended(positions * length * size, positions * length * size, positions * length * number(*heads),
                    call.hasTensor(18));
}

namespace {

struct CellShape {
    std::int64_t gates, pointwise;  ///< operations on each element of the state behind the products and their sums
};

/// LSTM: five functions, c = f·c + i·g, h = o·tanh(c). GRU: three, r·h', n + z·(h − n).
CellShape cellOf(std::string_view name) {
    if (name == "lstm" || name == "LSTM") return {4, 9};
    if (name == "gru" || name == "GRU") return {3, 7};
    return {1, 1};
}

Work onnxRecurrent(const CallReader& call, CellShape cell) {
    const Symbolic positions = rowsOf(call, call.input(0)), hidden = call.dim(call.input(2), -1),
                   directions = call.dim(call.input(2), 0);
    const std::int64_t sums = cell.gates * (call.hasTensor(3) ? 3 : 1);
    return Work::products(positions * (call.in(1) + call.in(2))) +
           Work::of(positions * directions * hidden * number(sums + cell.pointwise));
}

}  // namespace

/// ONNX: (X, W, R, B …). ATen: (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, …).
Work recurrent(const CallReader& call) {
    const CellShape cell = cellOf(withoutOverload(call.name()));
    if (!call.isAten()) return onnxRecurrent(call, cell);
    const auto biases = call.integer(3), layers = call.integer(4), twoWays = call.integer(7);
    // The state that is passed on is the cell's, or a projection of it (proj_size) of another size.
    const Symbolic state = call.dim(call.output(1), -1),
                   hidden = cell.gates == 4 ? call.dim(call.output(2), -1) : state;
    if (!biases || !layers || !twoWays || overloadOf(call.name()) != "input" || *layers < 1) return {};
    const Symbolic directions = number(*twoWays != 0 ? 2 : 1);
    const Symbolic steps = rowsOf(call, call.input(0)) * directions, all = steps * number(*layers);
    const Symbolic widths = call.dim(call.input(0), -1) + number(*layers - 1) * directions * state;
    const std::int64_t sums = cell.gates * (*biases != 0 ? 3 : 1);
    const Symbolic gates = steps * number(cell.gates) * hidden * (widths + number(*layers) * state);
    return Work::products(state == hidden ? gates : gates + all * hidden * state) +
           Work::of(all * hidden * number(sums + cell.pointwise));
}

/// One comparison or sum for each element of a window, and a quotient for a mean.
Work pooling(const CallReader& call) {
    const Symbolic quotients = call.traits().opClass == OpClass::AveragePool ? call.out() : number(0);
    std::vector<std::int64_t> window = call.attributeInts("kernel_shape");
    const bool slides = call.isAten() ? call.traits().is(Trait::SlidesWindow) : !window.empty();
    if (!slides) return Work::of(call.in() + quotients);  // windows side by side: global, adaptive
    if (call.isAten()) {
        const tensor::Value& size = call.constant(1);
        if (const auto one = call.integer(1)) window = {*one};
        else if (size.isListLike())
            for (const tensor::Value& item : size.items())
                window.push_back(item.kind() == tensor::ValueKind::Int ? item.toInt() : 0);
        if (window.size() == 1) window.resize(call.traits().spatialDims, window.front());
    }
    Symbolic taps = number(1);
    for (const std::int64_t length : window) taps = taps * (length > 0 ? number(length) : Symbolic());
    return window.empty() ? Work{} : Work::of(call.out() * taps + quotients);
}

/// A multiply-add for each neighbour; the nearest one is only moved.
Work resampling(const CallReader& call, CostRule rule) {
    if (!call.isAten()) {
        const std::string mode = call.attributeText("mode", "nearest");
        rule = mode == "linear" ? CostRule::Linear : mode == "cubic" ? CostRule::Cubic : CostRule::ByClass;
    }
    if (rule == CostRule::ByClass) return Work::none();
    const std::size_t rank = call.rank(0);
    if (rank < 3) return {};
    Symbolic neighbours = number(1);
    for (std::size_t i = 2; i < rank; ++i) neighbours = neighbours * number(rule == CostRule::Cubic ? 4 : 2);
    return Work::of(number(2) * call.out() * neighbours);
}

}  // namespace sonde::operators
