// Texts that models go on with. The model of the tests is written by hand: with ids t, ones in the mask and the last
// position p its most likely token is (sum of all t + sum of the mask + p) mod 10, so that what follows can be counted
// with a pencil. With a cache it sees earlier tokens only through it.

#include <QTemporaryDir>
#include <QtTest>

#include <cctype>
#include <numeric>

#include "core/document/document.h"
#include "core/session/generation/generation.h"
#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace tst_generation {

using namespace sonde;
using namespace sonde::test::onnxfile;
using session::FedValue;
using session::Generation;
using session::GenerationRequest;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr int kFloat = 1, kInt64 = 7;
constexpr int kWidth = 10;

/// ValueInfoProto; a size that is no number is a symbol.
std::string info(const std::string& name, int dtype, const std::vector<std::string>& sizes) {
    std::string shape;
    protozero::pbf_writer shapeWriter(shape);
    for (const std::string& size : sizes) {
        std::string dim;
        protozero::pbf_writer writer(dim);
        if (std::isdigit(static_cast<unsigned char>(size.front()))) writer.add_int64(1, std::stoll(size));
        else writer.add_string(2, size);
        shapeWriter.add_message(1, dim);
    }
    std::string tensor, type, data;
    protozero::pbf_writer tensorWriter(tensor);
    tensorWriter.add_enum(1, dtype);
    tensorWriter.add_message(2, shape);
    protozero::pbf_writer(type).add_message(1, tensor);
    protozero::pbf_writer writer(data);
    writer.add_string(1, name);
    writer.add_message(2, type);
    return data;
}

std::string int64s(const std::string& name, const std::vector<std::int64_t>& values, bool isScalar = false) {
    const std::string raw(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t));
    return rawTensor(name, kInt64, isScalar ? std::vector<std::int64_t>{} : std::vector{std::ssize(values)}, raw);
}

struct ModelForm {
    bool hasCache = true;
    std::string length = "T";  ///< of the ids
    std::string outputOfCache = "present.0.key", inputOfCache = "past_key_values.0.key";
};

/// logits[0,t,v] = -|v - (sum + maskSum + lastPosition) mod 10| for all t.
std::string countingModel(const ModelForm& form) {
    Graph graph;
    graph.inputs = {info("input_ids", kInt64, {"1", form.length}), info("attention_mask", kInt64, {"1", "All"}),
                    info("position_ids", kInt64, {"1", "T"})};
    graph.outputs = {info("logits", kFloat, {"1", "T", std::to_string(kWidth)})};
    std::string all = "input_ids";
    if (form.hasCache) {
        graph.inputs.push_back(info(form.inputOfCache, kInt64, {"1", "P"}));
        graph.outputs.push_back(info(form.outputOfCache, kInt64, {"1", "All"}));
        graph.nodes.push_back(
            {"Concat", {form.inputOfCache, "input_ids"}, {form.outputOfCache}, "join", "", {intAttribute("axis", 1)}});
        all = form.outputOfCache;
    }
    std::vector<std::int64_t> tokens(kWidth);
    std::iota(tokens.begin(), tokens.end(), 0);
    graph.initializers = {int64s("axis", {1}), int64s("ten", {kWidth}, true), int64s("tokens", tokens)};
    const auto keep = intAttribute("keepdims", 1);
    graph.nodes.push_back({"ReduceSum", {all, "axis"}, {"sum"}, "sum", "", {keep}});
    graph.nodes.push_back({"ReduceSum", {"attention_mask", "axis"}, {"masked"}, "masked", "", {keep}});
    graph.nodes.push_back({"ReduceMax", {"position_ids"}, {"last"}, "last", "", {intsAttribute("axes", {1}), keep}});
    graph.nodes.push_back({"Add", {"sum", "masked"}, {"both"}, "add"});
    graph.nodes.push_back({"Add", {"both", "last"}, {"three"}, "add_last"});
    graph.nodes.push_back({"Mod", {"three", "ten"}, {"best"}, "mod"});
    graph.nodes.push_back({"Sub", {"tokens", "best"}, {"away"}, "away"});
    graph.nodes.push_back({"Abs", {"away"}, {"distance"}, "abs"});
    graph.nodes.push_back({"Neg", {"distance"}, {"near"}, "neg"});
    graph.nodes.push_back({"Cast", {"near"}, {"row"}, "cast", "", {intAttribute("to", kFloat)}});
    graph.nodes.push_back({"Shape", {"input_ids"}, {"shape"}, "shape"});
    graph.nodes.push_back({"Unsqueeze", {"row", "axis"}, {"cell"}, "cell"});
    graph.nodes.push_back({"Concat", {"shape", "one"}, {"full"}, "full", "", {intAttribute("axis", 0)}});
    graph.nodes.push_back({"Expand", {"cell", "full"}, {"logits"}, "expand"});
    graph.initializers.push_back(int64s("one", {1}));
    return model(graph);
}

Value ids(const std::vector<std::int64_t>& values) {
    return Value(Tensor::of<std::int64_t>({1, std::ssize(values)}, values));
}

}  // namespace

class TestGeneration : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aCacheGivesWhatTheWholeTextGives_data();
    void aCacheGivesWhatTheWholeTextGives();
    void withACacheOnlyTheNewTokenIsGiven();
    void theEndTokenEndsIt();
    void aFixedLengthEndsIt();
    void pairsGoByName_data();
    void pairsGoByName();
    void whatIsNoPairIsRefused_data();
    void whatIsNoPairIsRefused();
    void statesBeginEmpty();
    void whatIsNotGivenIsMade();
    void drawsFollowTheirShares();
    void severalTextsAreRefused();

  private:
    std::shared_ptr<const document::Document> open(const ModelForm& form) {
        const QString path = m_folder.filePath(QStringLiteral("model%1.onnx").arg(m_count++));
        QFile file(path);
        const std::string bytes = countingModel(form);
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes.data(), std::ssize(bytes)) < 0) return nullptr;
        file.close();
        auto opened = document::open(path.toStdString());
        if (!opened) qWarning("%s", opened.error().text().c_str());
        return opened ? *opened : nullptr;
    }
    /// The inputs of a first run: a mask of ones, positions from 0, an empty cache.
    static std::vector<Value> firstInputs(const std::vector<std::int64_t>& prompt, bool hasCache) {
        std::vector<std::int64_t> positions(prompt.size());
        std::iota(positions.begin(), positions.end(), 0);
        std::vector<Value> values{ids(prompt), ids(std::vector<std::int64_t>(prompt.size(), 1)), ids(positions)};
        if (hasCache) values.push_back(ids({}));
        return values;
    }
    /// Runs until `count` tokens are there or none can follow.
    static base::Result<void> go(const std::shared_ptr<const document::Document>& document, Generation& generation,
                                 int count) {
        session::Session session;
        session.show(document);
        for (int i = 0; i < count && !generation.isFinished(); ++i) {
            session.runs().giveValues(generation.inputs());
            session.runs().run();
            if (session.runs().last().error) return *session.runs().last().error;
            SONDE_TRY(generation.take(session.runs().last().recording->outputs));
        }
        return {};
    }

    QTemporaryDir m_folder;
    int m_count = 0;
};

void TestGeneration::aCacheGivesWhatTheWholeTextGives_data() {
    QTest::addColumn<bool>("hasCache");
    QTest::newRow("cache") << true;
    QTest::newRow("whole text") << false;
}

/// 1 2: 3 + 2 ones + position 1 = 6. 1 2 6: 9 + 3 + 2 = 14, so 4. 13 + 4 + 3 = 20: 0. 13 + 5 + 4 = 22: 2.
/// 15 + 6 + 5 = 26: 6.
void TestGeneration::aCacheGivesWhatTheWholeTextGives() {
    QFETCH(bool, hasCache);
    const auto document = open({.hasCache = hasCache});
    QVERIFY(document);
    auto generation = Generation::of(*document, {});
    QVERIFY2(generation, generation ? "" : generation.error().text().c_str());
    QCOMPARE(generation->fed().size(), hasCache ? 1U : 0U);
    QVERIFY(generation->begin(firstInputs({1, 2}, hasCache)));
    const auto done = go(document, *generation, 5);
    QVERIFY2(done, done ? "" : done.error().text().c_str());
    QCOMPARE(generation->ids(), (std::vector<std::int64_t>{1, 2, 6, 4, 0, 2, 6}));
    QVERIFY(!generation->isFinished());
}

void TestGeneration::withACacheOnlyTheNewTokenIsGiven() {
    const auto document = open({});
    QVERIFY(document);
    auto generation = Generation::of(*document, {});
    QVERIFY(generation && generation->begin(firstInputs({1, 2}, true)) && go(document, *generation, 1));
    const std::vector<Value>& next = generation->inputs();
    QVERIFY(tensor::identical(next[0].tensor(), ids({6}).tensor()));
    QVERIFY(tensor::identical(next[1].tensor(), ids({1, 1, 1}).tensor()));
    QVERIFY(tensor::identical(next[2].tensor(), ids({2}).tensor()));
    QVERIFY(tensor::identical(next[3].tensor(), ids({1, 2}).tensor()));
}

void TestGeneration::theEndTokenEndsIt() {
    const auto document = open({});
    QVERIFY(document);
    auto generation = Generation::of(*document, {.end = 0});
    QVERIFY(generation && generation->begin(firstInputs({1, 2}, true)) && go(document, *generation, 100));
    QCOMPARE(generation->ids(), (std::vector<std::int64_t>{1, 2, 6, 4, 0}));
    QVERIFY(generation->isFinished());
}

/// Without a cache a model of three tokens can go on with two of them by one only.
void TestGeneration::aFixedLengthEndsIt() {
    const auto document = open({.hasCache = false, .length = "3"});
    QVERIFY(document);
    auto generation = Generation::of(*document, {});
    QVERIFY(generation && generation->begin(firstInputs({1, 2, 6}, false)) && go(document, *generation, 100));
    QCOMPARE(generation->ids(), (std::vector<std::int64_t>{1, 2, 6, 4}));
    QVERIFY2(generation->endReason().find("input_ids") != std::string::npos, generation->endReason().c_str());
}

void TestGeneration::pairsGoByName_data() {
    QTest::addColumn<QString>("output");
    QTest::addColumn<QString>("input");
    QTest::addColumn<QString>("asked");
    QTest::newRow("Optimum") << "present.0.key"
                             << "past_key_values.0.key"
                             << "";
    QTest::newRow("ONNX Runtime") << "present_0"
                                  << "past_0"
                                  << "";
    QTest::newRow("past") << "present.0.value"
                          << "past.0.value"
                          << "";
    QTest::newRow("by hand") << "state_out"
                             << "state"
                             << "state_out=state";
    QTest::newRow("by a pattern") << "layer.0.after"
                                  << "layer.0.before"
                                  << "layer.*.after=layer.*.before";
}

void TestGeneration::pairsGoByName() {
    QFETCH(QString, output);
    QFETCH(QString, input);
    QFETCH(QString, asked);
    const auto document = open({.outputOfCache = output.toStdString(), .inputOfCache = input.toStdString()});
    QVERIFY(document);
    const auto pairs =
        session::fedValues(*document, asked.isEmpty() ? std::vector<std::string>{} : std::vector{asked.toStdString()});
    QVERIFY2(pairs, pairs ? "" : pairs.error().text().c_str());
    QCOMPARE(*pairs, (std::vector<FedValue>{{1, 3}}));
}

void TestGeneration::whatIsNoPairIsRefused_data() {
    QTest::addColumn<QString>("asked");
    QTest::addColumn<QString>("message");
    QTest::newRow("no =") << "present"
                          << "is not OUTPUT=INPUT";
    QTest::newRow("nothing behind") << "present="
                                    << "is not OUTPUT=INPUT";
    QTest::newRow("one star") << "present.*=past"
                              << "is not OUTPUT=INPUT";
    QTest::newRow("two stars") << "present.*.*=past.*"
                               << "is not OUTPUT=INPUT";
    QTest::newRow("no output") << "nothing=input_ids"
                               << "no output and input of the model go by";
    QTest::newRow("no input") << "logits=nothing"
                              << "no output and input of the model go by";
}

void TestGeneration::whatIsNoPairIsRefused() {
    QFETCH(QString, asked);
    QFETCH(QString, message);
    const auto document = open({});
    QVERIFY(document);
    const auto pairs = session::fedValues(*document, {asked.toStdString()});
    QVERIFY(!pairs);
    QCOMPARE(pairs.error().kind, base::ErrorKind::Usage);
    QVERIFY2(pairs.error().what.find(message.toStdString()) != std::string::npos, pairs.error().what.c_str());
}

/// The first dimension is the batch; tokens in a cache are none yet.
void TestGeneration::statesBeginEmpty() {
    const auto document = open({});
    QVERIFY(document);
    const auto state = session::emptyState(document->inputs[3], *document->graph);
    QVERIFY(state);
    QCOMPARE(*state, std::string("#rand(0,0,1,0)"));
}

void TestGeneration::whatIsNotGivenIsMade() {
    const auto document = open({});
    QVERIFY(document);
    const auto generation = Generation::of(*document, {});
    QVERIFY(generation);
    const auto ofIds = generation->inputData({4, 5, 6}, "position_ids:[[7,8,9]]");
    QVERIFY(ofIds);
    QCOMPARE(*ofIds, std::string("input_ids:[[4,5,6]];position_ids:[[7,8,9]];attention_mask:[[1,1,1]];"
                                 "past_key_values.0.key:#rand(0,0,1,0)"));
}

/// At temperature 1 a distance of d has the share e^-d over the sum of e^-|v - 6|, v from 0 to 9: 6 has 0.4687 of the
/// draws, 5 and 7 each 0.1724. Of 400 draws the count of 6 is within four deviations (of 10.0 each) of 187.5.
void TestGeneration::drawsFollowTheirShares() {
    const auto document = open({});
    QVERIFY(document);
    int sixes = 0, others = 0;
    std::vector<std::int64_t> first;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        auto generation = Generation::of(*document, {.temperature = 1, .seed = seed});
        QVERIFY(generation && generation->begin(firstInputs({1, 2}, true)) && go(document, *generation, 1));
        const std::int64_t token = generation->ids().back();
        sixes += token == 6 ? 1 : 0;
        others += token != 5 && token != 6 && token != 7 ? 1 : 0;
        if (seed < 8) first.push_back(token);
    }
    QVERIFY2(sixes > 147 && sixes < 228, qPrintable(QString::number(sixes)));
    QVERIFY(others > 0);
    // The same seed draws the same, and of one most likely token there is nothing else to draw.
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        auto again = Generation::of(*document, {.temperature = 1, .seed = seed});
        QVERIFY(again && again->begin(firstInputs({1, 2}, true)) && go(document, *again, 1));
        QCOMPARE(again->ids().back(), first[seed]);
        auto greedy = Generation::of(*document, {.temperature = 1, .top = 1, .seed = seed});
        QVERIFY(greedy && greedy->begin(firstInputs({1, 2}, true)) && go(document, *greedy, 1));
        QCOMPARE(greedy->ids().back(), 6);
    }
}

void TestGeneration::severalTextsAreRefused() {
    const auto document = open({});
    QVERIFY(document);
    auto generation = Generation::of(*document, {});
    QVERIFY(generation);
    std::vector<Value> inputs = firstInputs({1, 2}, true);
    inputs[0] = Value(Tensor::of<std::int64_t>({2, 1}, {1, 2}));
    const auto begun = generation->begin(inputs);
    QVERIFY(!begun);
    QVERIFY2(begun.error().text().find("input_ids") != std::string::npos, begun.error().text().c_str());
}

QTEST_GUILESS_MAIN(TestGeneration)

}  // namespace tst_generation

#include "tst_generation.moc"
