#include "core/session/outputs/forms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde::session::outputs {

const std::vector<Form>& forms() {
    static const std::vector<Form> table{scalarForm(), classesForm(), textForm(),     boxesForm(),
                                         masksForm(),  imageForm(),   waveformForm(), tableForm()};
    return table;
}

const Form* findForm(std::string_view id) {
    const auto found = std::ranges::find(forms(), id, &Form::id);
    return found == forms().end() ? nullptr : &*found;
}

const Form& bestForm(const Facts& facts) {
    return *std::ranges::max_element(forms(), {}, [&facts](const Form& form) { return form.suits(facts); });
}

std::int64_t sampleOf(const FormRequest& request, std::int64_t count) {
    return std::clamp<std::int64_t>(request.choice.sample, 0, std::max<std::int64_t>(count - 1, 0));
}

std::string labelOf(const FormRequest& request, std::int64_t index) {
    const bool isThere = request.labels && index >= 0 && index < static_cast<std::int64_t>(request.labels->size());
    return isThere ? (*request.labels)[static_cast<std::size_t>(index)] : std::string();
}

std::vector<std::int64_t> largest(std::int64_t count, int top, const std::vector<double>& values) {
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < count; ++i)
        if (!std::isnan(values[static_cast<std::size_t>(i)])) order.push_back(i);
    const auto size = std::min<std::ptrdiff_t>(top, static_cast<std::ptrdiff_t>(order.size()));
    std::ranges::partial_sort(order, order.begin() + size, [&values](std::int64_t a, std::int64_t b) {
        const double x = values[static_cast<std::size_t>(a)], y = values[static_cast<std::size_t>(b)];
        return x != y ? x > y : a < b;
    });
    order.resize(static_cast<std::size_t>(size));
    return order;
}

std::vector<double> softmax(const std::vector<double>& values) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const double value : values)
        if (std::isfinite(value)) most = std::max(most, value);
    std::vector<double> shares(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        shares[i] = std::isfinite(values[i]) ? std::exp(values[i] - most) : 0;
        sum += shares[i];
    }
    for (double& share : shares) share = sum > 0 ? share / sum : 0;
    return shares;
}

std::vector<double> numbersOf(const tensor::Tensor& tensor, std::int64_t first, std::int64_t count) {
    std::vector<double> numbers(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) numbers[static_cast<std::size_t>(i)] = tensor.toDouble(first + i);
    return numbers;
}

}  // namespace sonde::session::outputs
