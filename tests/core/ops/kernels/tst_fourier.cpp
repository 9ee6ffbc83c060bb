// Fourier transforms against the definition, summed in long double, of lengths with small, large and repeated prime
// factors. Tolerance: every element within (8 + 2·log2 N)·ε of the signal's 2-norm, ε of float or double. A transform's
// elements have about that norm each, and the rounding errors of the log2 N stages add up like a walk at random.

#include <QtTest>

#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "core/ops/kernels/fourier.h"
#include "core/ops/registry/registry.h"
#include "core/tensor/storage.h"

namespace tst_fourier {

using namespace sonde;
using namespace sonde::ops::kernels;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

template <typename T>
using Line = std::vector<std::complex<T>>;
using Exact = std::complex<long double>;

template <typename T>
Line<T> signal(std::int64_t n, unsigned seed = 1) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<T> numbers(-1, 1);
    Line<T> line(static_cast<std::size_t>(n));
    for (auto& value : line) value = {numbers(engine), numbers(engine)};
    return line;
}

template <typename T>
std::vector<T> realSignal(std::int64_t n, unsigned seed = 2) {
    std::vector<T> real;
    for (const auto& value : signal<T>(n, seed)) real.push_back(value.real());
    return real;
}

/// e^(2πi·j/n) for all j.
const std::vector<Exact>& roots(std::int64_t n) {
    static std::vector<Exact> table;
    if (static_cast<std::int64_t>(table.size()) != n) {
        table.clear();
        for (std::int64_t j = 0; j < n; ++j) {
            const long double angle =
                2 * std::numbers::pi_v<long double> * static_cast<long double>(j) / static_cast<long double>(n);
            table.emplace_back(std::cos(angle), std::sin(angle));
        }
    }
    return table;
}

/// X[k] by the definition; sign −1 for the forward transform.
template <typename Number>
Exact element(const std::vector<Number>& x, std::int64_t k, int sign) {
    const auto n = static_cast<std::int64_t>(x.size());
    const std::vector<Exact>& table = roots(n);
    long double real = 0, imaginary = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const Exact value(x[static_cast<std::size_t>(i)]), root = table[static_cast<std::size_t>(k * i % n)];
        real += value.real() * root.real() - sign * value.imag() * root.imag();
        imaginary += sign * value.real() * root.imag() + value.imag() * root.real();
    }
    return {real, imaginary};
}

/// All elements of short transforms; of long ones the first, the last, those around the middle and 24 others.
std::vector<std::int64_t> elementsOf(std::int64_t n) {
    std::vector<std::int64_t> elements;
    if (n <= 1100) {
        for (std::int64_t k = 0; k < n; ++k) elements.push_back(k);
        return elements;
    }
    elements = {0, 1, n / 2, n / 2 + 1, n - 1};
    std::mt19937_64 engine(static_cast<std::uint64_t>(n));
    for (int i = 0; i < 24; ++i)
        elements.push_back(static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(n)));
    return elements;
}

template <typename Numbers>
long double norm(const Numbers& x) {
    long double sum = 0;
    for (const auto& value : x) sum += std::norm(Exact(value));
    return std::sqrt(sum);
}

template <typename T>
long double allowed(std::int64_t n, long double norm) {
    return (8 + 2 * std::log2(static_cast<long double>(n))) *
           static_cast<long double>(std::numeric_limits<T>::epsilon()) * norm;
}

template <typename T>
bool isClose(std::complex<T> value, Exact wanted, long double tolerance) {
    return std::abs(Exact(value) - wanted) <= tolerance;
}

void lengths() {
    QTest::addColumn<qint64>("n");
    for (qint64 n = 1; n <= 70; ++n) QTest::addRow("%lld", n) << n;
    // Primes, products of primes, powers of primes, and such with small factors.
    for (qint64 n : {101, 257, 1009, 17 * 19, 17 * 17, 16 * 61, 13 * 13, 11 * 13 * 7, 1024, 1000, 17 * 257, 101 * 101,
                     4 * 1009, 10007, 3 * 10007, 65536, 65537}) {
        QTest::addRow("%lld", n) << n;
    }
}

const std::stop_token kNever;

/// The only result of an operator.
base::Result<Tensor> call(const char* domain, const char* name, std::vector<Value> inputs,
                          const tensor::Attributes& attributes = {}, std::stop_token stop = {}) {
    base::ThreadPool pool(2);
    ops::RunEnvironment environment{&pool, std::move(stop), 0, false};
    auto results = ops::call(*ops::Registry::all().find(domain, name, 0), inputs, attributes, 1, environment);
    if (!results) return std::move(results).error();
    return results->front().tensor();
}

}  // namespace

class TestFourier : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void isTheDefinition_data() { lengths(); }
    void isTheDefinition();
    void realTransformsAreHalves_data() { lengths(); }
    void realTransformsAreHalves();
    void energyAndRoundTrip_data() { lengths(); }
    void energyAndRoundTrip();
    void linesAreTheSameOnAnyThreads();
    void operatorsOfPyTorch();
    void operatorsOfOnnx();
    void lengthsOutOfRange();
    void memoryIsLimited();
    void stopsBetweenTransforms();

  private:
    template <typename T>
    void checkDefinition(std::int64_t n);
    template <typename T>
    void checkReal(std::int64_t n);
    template <typename T>
    void checkEnergy(std::int64_t n);
    template <typename T>
    void checkOperator(DType dtype);
};

template <typename T>
void TestFourier::checkDefinition(std::int64_t n) {
    const Line<T> x = signal<T>(n);
    Line<T> forward(x.size()), inverse(x.size());
    FourierTransform<T> transform(n);
    transform.forward(x.data(), forward.data());
    transform.inverse(x.data(), inverse.data());
    const long double tolerance = allowed<T>(n, norm(x));
    for (std::int64_t k : elementsOf(n)) {
        QVERIFY2(isClose(forward[static_cast<std::size_t>(k)], element(x, k, -1), tolerance),
                 qPrintable(QString::number(k)));
        QVERIFY2(isClose(inverse[static_cast<std::size_t>(k)], element(x, k, 1), tolerance),
                 qPrintable(QString::number(k)));
    }
}

void TestFourier::isTheDefinition() {
    QFETCH(qint64, n);
    checkDefinition<float>(n);
    checkDefinition<double>(n);
}

template <typename T>
void TestFourier::checkReal(std::int64_t n) {
    const std::vector<T> x = realSignal<T>(n);
    Line<T> half(static_cast<std::size_t>(n / 2 + 1));
    FourierTransform<T> transform(n);
    transform.forwardReal(x.data(), half.data());
    const long double tolerance = allowed<T>(n, norm(x));
    for (std::int64_t k : elementsOf(n)) {
        if (k <= n / 2)
            QVERIFY2(isClose(half[static_cast<std::size_t>(k)], element(x, k, -1), tolerance),
                     qPrintable(QString::number(k)));
    }
    // What a real signal's spectrum cannot have does not count.
    half.front() += std::complex<T>(0, 5);
    if (n % 2 == 0) half.back() += std::complex<T>(0, 7);
    std::vector<T> back(x.size());
    transform.inverseReal(half.data(), back.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const long double error =
            std::fabs(static_cast<long double>(back[i]) / static_cast<long double>(n) - static_cast<long double>(x[i]));
        QVERIFY2(error <= allowed<T>(n, 2), qPrintable(QString::number(i)));
    }
}

void TestFourier::realTransformsAreHalves() {
    QFETCH(qint64, n);
    checkReal<float>(n);
    checkReal<double>(n);
}

template <typename T>
void TestFourier::checkEnergy(std::int64_t n) {
    const Line<T> x = signal<T>(n, 3);
    Line<T> spectrum(x.size()), back(x.size());
    FourierTransform<T> transform(n);
    transform.forward(x.data(), spectrum.data());
    transform.inverse(spectrum.data(), back.data());
    // Parseval: Σ|X|² = N·Σ|x|².
    const long double energy = norm(spectrum) / (std::sqrt(static_cast<long double>(n)) * norm(x));
    QVERIFY2(std::fabs(energy - 1) <= allowed<T>(n, 1), qPrintable(QString::number(static_cast<double>(energy - 1))));
    for (std::size_t i = 0; i < x.size(); ++i)
        QVERIFY(isClose(back[i] / static_cast<T>(n), Exact(x[i]), allowed<T>(n, 2)));
}

void TestFourier::energyAndRoundTrip() {
    QFETCH(qint64, n);
    checkEnergy<float>(n);
    checkEnergy<double>(n);
}

void TestFourier::linesAreTheSameOnAnyThreads() {
    for (std::int64_t n : {12, 101, 5000}) {
        const std::vector<double> x = realSignal<double>(n * 40);
        std::vector<std::vector<double>> results;
        for (std::size_t threads : {1, 2, 3}) {
            base::ThreadPool pool(threads);
            std::vector<double> y(static_cast<std::size_t>(40 * (n / 2 + 1) * 2));
            FourierLines<double> lines;
            lines.count = 40, lines.length = n, lines.kind = Spectrum::RealToHalf;
            lines.load = [&](std::size_t line, double* to) {
                std::copy_n(x.data() + static_cast<std::int64_t>(line) * n, n, to);
            };
            lines.store = [&](std::size_t line, const double* from) {
                std::copy_n(from, (n / 2 + 1) * 2, y.data() + static_cast<std::int64_t>(line) * (n / 2 + 1) * 2);
            };
            QVERIFY(transformLines(lines, pool, kNever));
            results.push_back(std::move(y));
        }
        QVERIFY(results[0] == results[1] && results[0] == results[2]);
        FourierTransform<double> alone(n);
        Line<double> last(static_cast<std::size_t>(n / 2 + 1));
        alone.forwardReal(x.data() + 39 * n, last.data());
        QCOMPARE(results[0].back(), last.back().imag());
    }
}

template <typename T>
void TestFourier::checkOperator(DType dtype) {
    constexpr std::int64_t n = 101, rows = 3;
    const Line<T> x = signal<T>(n * rows, 4);
    const Tensor given = Tensor::of<std::complex<T>>(Shape{rows, n}, x);
    const auto spectrum = call("aten", "fft_fft", {Value(given)});
    QVERIFY2(spectrum, spectrum ? "" : spectrum.error().text().c_str());
    QCOMPARE(spectrum->dtype(), dtype);
    const auto along = call("aten", "fft_fft", {Value(given), Value(), Value::ofInt(0)});
    QVERIFY(along);
    for (std::int64_t row = 0; row < rows; ++row) {
        const Line<T> line(x.begin() + row * n, x.begin() + (row + 1) * n);
        for (std::int64_t k = 0; k < n; k += 7)
            QVERIFY(isClose(spectrum->data<std::complex<T>>()[row * n + k], element(line, k, -1),
                            allowed<T>(n, norm(line))));
        const Line<T> column{x[5], x[5 + n], x[5 + 2 * n]};
        QVERIFY(isClose(along->contiguous().value().data<std::complex<T>>()[row * n + 5], element(column, row, -1),
                        allowed<T>(rows, norm(column))));
    }
    const auto back = call("aten", "fft_ifft", {Value(*spectrum)});
    QVERIFY(back);
    for (std::size_t i = 0; i < x.size(); ++i)
        QVERIFY(isClose(back->data<std::complex<T>>()[i], Exact(x[i]), allowed<T>(n, 2)));
}

void TestFourier::operatorsOfPyTorch() {
    checkOperator<float>(DType::Complex64);
    checkOperator<double>(DType::Complex128);
    // An odd length back from its half: 2·(half − 1) unless it is named.
    const std::vector<double> x = realSignal<double>(257);
    const auto half = call("aten", "fft_rfft", {Value(Tensor::of<double>(Shape{257}, x))});
    QVERIFY(half);
    QCOMPARE(half->shape().text(), std::string("[129]"));
    const auto back = call("aten", "fft_irfft", {Value(*half), Value::ofInt(257)});
    QVERIFY(back);
    for (std::size_t i = 0; i < x.size(); ++i)
        QVERIFY(std::fabs(back->data<double>()[i] - x[i]) <= static_cast<double>(allowed<double>(257, 2)));
}

void TestFourier::operatorsOfOnnx() {
    constexpr std::int64_t n = 34, frame = 17, hop = 5;
    const std::vector<float> x = realSignal<float>(n);
    const Tensor given = Tensor::of<float>(Shape{1, n, 1}, x);
    const auto spectrum = call("", "DFT", {Value(given), Value(), Value(Tensor::scalar<std::int64_t>(1))},
                               {{"onesided", std::int64_t{1}}});
    QVERIFY2(spectrum, spectrum ? "" : spectrum.error().text().c_str());
    QCOMPARE(spectrum->shape().text(), std::string("[1,18,2]"));
    for (std::int64_t k = 0; k <= n / 2; ++k) {
        const std::complex<float> value(spectrum->data<float>()[2 * k], spectrum->data<float>()[2 * k + 1]);
        QVERIFY(isClose(value, element(x, k, -1), allowed<float>(n, norm(x))));
    }
    std::vector<float> window;
    for (std::int64_t i = 0; i < frame; ++i) window.push_back(0.25F * static_cast<float>(i));
    const auto frames =
        call("", "STFT",
             {Value(given), Value(Tensor::scalar<std::int64_t>(hop)), Value(Tensor::of<float>(Shape{frame}, window))});
    QVERIFY2(frames, frames ? "" : frames.error().text().c_str());
    QCOMPARE(frames->shape().text(), std::string("[1,4,9,2]"));
    for (std::int64_t f = 0; f < 4; ++f) {
        std::vector<float> part;
        for (std::int64_t i = 0; i < frame; ++i)
            part.push_back(x[static_cast<std::size_t>(f * hop + i)] * window[static_cast<std::size_t>(i)]);
        for (std::int64_t k = 0; k < 9; ++k) {
            const float* value = frames->data<float>() + (f * 9 + k) * 2;
            QVERIFY(isClose(std::complex<float>(value[0], value[1]), element(part, k, -1),
                            allowed<float>(frame, norm(part))));
        }
    }
}

void TestFourier::lengthsOutOfRange() {
    QVERIFY(!call("aten", "fft_fft", {Value(Tensor::of<float>(Shape{0}, std::vector<float>{}))}));
    const Tensor x = Tensor::of<float>(Shape{1, 4, 1}, {1, 2, 3, 4});
    for (std::int64_t length :
         {std::int64_t{0}, std::int64_t{-3}, (std::int64_t{1} << 26) + 1, std::int64_t{1} << 62}) {
        const auto result = call(
            "", "DFT", {Value(x), Value(Tensor::scalar<std::int64_t>(length)), Value(Tensor::scalar<std::int64_t>(1))});
        QVERIFY(!result);
        QVERIFY2(result.error().what.find("out of range") != std::string::npos, result.error().what.c_str());
        base::ThreadPool pool(1);
        FourierLines<float> lines;
        lines.count = 1, lines.length = length;
        QVERIFY(!transformLines(lines, pool, kNever));
    }
    // No line at all is no error.
    const auto none = call("aten", "fft_fft", {Value(Tensor::zeros(DType::Float32, Shape{0, 4}).value())});
    QVERIFY2(none, none ? "" : none.error().text().c_str());
    QCOMPARE(none->shape().text(), std::string("[0,4]"));
}

/// Bluestein's algorithm for the prime 10,007 has working memory of more than 20,013 complex numbers.
void TestFourier::memoryIsLimited() {
    const std::size_t before = tensor::memoryLimit();
    const auto restore = qScopeGuard([&] { tensor::setMemoryLimit(before); });
    const Value x(Tensor::zeros(DType::Complex128, Shape{10007}).value());
    tensor::setMemoryLimit(std::size_t{320} << 10);  // of the result: 160 KB
    const auto refused = call("aten", "fft_fft", {x});
    QVERIFY(!refused);
    QVERIFY2(refused.error().what.find("memory limit") != std::string::npos, refused.error().what.c_str());
    tensor::setMemoryLimit(std::size_t{4} << 20);  // for one at a time
    QVERIFY(call("aten", "fft_fft", {x}));
}

void TestFourier::stopsBetweenTransforms() {
    for (std::size_t threads : {1, 2}) {
        base::ThreadPool pool(threads);
        std::stop_source stop;
        std::atomic<int> loaded = 0, stored = 0;
        FourierLines<float> lines;
        lines.count = 1000, lines.length = 4099;  // a prime: Bluestein
        lines.load = [&](std::size_t, float* x) {
            std::fill_n(x, 2 * 4099, 1.0F);
            if (++loaded == 5) stop.request_stop();
        };
        lines.store = [&](std::size_t, const float*) { ++stored; };
        const auto result = transformLines(lines, pool, stop.get_token());
        QVERIFY(!result);
        QCOMPARE(result.error().kind, base::ErrorKind::Cancelled);
        QVERIFY(loaded <= 5 + static_cast<int>(threads));
        QVERIFY(stored < 5 + static_cast<int>(threads));
    }
    std::stop_source stop;
    stop.request_stop();
    const auto result =
        call("aten", "fft_fft", {Value(Tensor::of<float>(Shape{4}, {1, 2, 3, 4}))}, {}, stop.get_token());
    QVERIFY(!result);
    QCOMPARE(result.error().kind, base::ErrorKind::Cancelled);
}

QTEST_APPLESS_MAIN(TestFourier)

}  // namespace tst_fourier

#include "tst_fourier.moc"
