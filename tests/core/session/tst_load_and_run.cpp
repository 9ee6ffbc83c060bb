// load-and-run without a command line. Values are worked by hand: of x the small dump computes product = x · (1, 2, 3,
// 4) and sum = product + x, its output ADD.

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include "core/analysis/infer.h"
#include "core/base/mapped_file.h"
#include "core/document/document.h"
#include "core/export/optimised_cases.h"
#include "core/export/plain_form.h"
#include "core/io/npz/npy.h"
#include "core/session/load_and_run/case_inputs.h"
#include "core/session/load_and_run/inspection.h"
#include "core/session/load_and_run/load_and_run.h"
#include "tests/support/small_dump.h"

namespace tst_load_and_run {

using namespace sonde;
using session::LoadAndRunOptions;
using session::LoadAndRunResult;
using tensor::Tensor;

namespace {

Tensor row(std::vector<float> values) { return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values); }

/// "iter 0", "warm up" …: how many lines begin so.
qsizetype beginning(const QStringList& lines, const QString& text) {
    return std::ranges::count_if(lines, [&](const QString& line) { return line.startsWith(text); });
}

QString contentOf(const std::string& path) {
    QFile file(QString::fromStdString(path));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

}  // namespace

class TestLoadAndRun : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_lines.clear();
        m_options = {};
        QCOMPARE(test::writeProductDump(path("a.dump"), {"[1,2,3,4]", "[0,1,0,0]"}), std::string());
    }

    void everyCaseIsCheckedAndTimed() {
        set("iter", "3");
        const auto result = run("a.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QVERIFY(!result->failure);
        QCOMPARE(result->cases.size(), std::size_t(2));
        for (const session::CaseResult& each : result->cases) {
            QCOMPARE(each.iterationsNs.size(), std::size_t(3));
            QCOMPARE(each.checks.size(), std::size_t(1));
            QCOMPARE(each.checks[0].name, std::string("ADD"));
            QCOMPARE(each.checks[0].difference, 0.0);
        }
        QCOMPARE(beginning(m_lines, "AssertEqual: err=0 (name=ADD id="), 2);
        QCOMPARE(beginning(m_lines, "iter "), 6);
        QCOMPARE(beginning(m_lines, "warm up "), 1);
        QCOMPARE(beginning(m_lines, "=== finished test #1: "), 1);
        QCOMPARE(beginning(m_lines, "=== total time: "), 1);
    }

    /// Half of what is right is expected: e = 1, 3, 6, 10 and g = 2, 6, 12, 20, so that |e - g| / max(min(e, g), 1) is
    /// 1 everywhere.
    void whatDiffersIsTold_data() {
        QTest::addColumn<QString>("option");
        QTest::addColumn<bool>("isFailure");
        QTest::addColumn<int>("lines");
        QTest::newRow("as it is") << "" << true << 1;
        QTest::newRow("no throw") << "disable_assert_throw" << false << 1;
        QTest::newRow("silent") << "silent" << true << 0;
    }

    void whatDiffersIsTold() {
        QFETCH(QString, option);
        QFETCH(bool, isFailure);
        QFETCH(int, lines);
        exporting::DumpOptions dump;
        dump.silent = option == "silent";
        QCOMPARE(test::writeProductDump(path("wrong.dump"), {"[1,2,3,4]"}, dump, 0.5F), std::string());
        if (option == "disable_assert_throw") set(option.toStdString());
        const auto result = run("wrong.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QCOMPARE(result->failure.has_value(), isFailure);
        if (isFailure) QCOMPARE(result->failure->kind, base::ErrorKind::Comparison);
        QCOMPARE(result->cases.at(0).checks.at(0).difference, 1.0);
        QVERIFY(!result->cases[0].checks[0].ok());
        QCOMPARE(beginning(m_lines, "AssertEqual: err=1 (name=ADD id="), lines);
    }

    void inputTakesThePlaceOfTheCases() {
        set("input", "[1,1,1,1]");
        set("bin_out_dump", path("out"));
        const auto result = run("a.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QCOMPARE(result->cases.size(), std::size_t(1));
        QVERIFY(result->cases[0].checks.empty());
        QCOMPARE(beginning(m_lines, "outputs are not checked"), 1);
        QVERIFY(identicalToFile(row({2, 3, 4, 5}), "out"));
    }

    void expectedValuesMayBeGiven() {
        set("input", "arg_0:[1,1,1,1];ADD:expect:[2,3,4,5.5]");
        const auto result = run("a.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        // 0.5 / 5.
        QCOMPARE(result->cases.at(0).checks.at(0).difference, 0.1);
        QVERIFY(result->failure.has_value());
    }

    /// A dump that passes float16 expects float32, as it takes float32: options change neither. y = relu(x · (1, 2, 3,
    /// 4)), which float16 holds exactly.
    void float16DumpsTakeOptions_data() {
        QTest::addColumn<QString>("option");
        for (const char* option :
             {"enable_nchw88", "enable_nchw44", "enable_fuse_conv_bias_nonlinearity", "enable_fuse_preprocess",
              "enable_io16xc32", "enable_ioc16", "optimize_for_inference"})
            QTest::newRow(option) << QString(option);
    }
    void float16DumpsTakeOptions() {
        QFETCH(QString, option);
        writeHalfDump("half.dump");
        set(option.toStdString());
        const auto result = run("half.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QVERIFY2(!result->failure, result->failure ? result->failure->text().c_str() : "");
        QCOMPARE(result->cases.at(0).checks.at(0).difference, 0.0);
    }

    /// What is written keeps what the dump was made with: bit 0 is io16xc32 and bit 6 grain.
    void transformedLayoutsKeepOptions() {
        writeHalfDump("half.dump");
        set("layout_transform", "cpu");
        set("layout_transform_dump", path("chosen.dump"));
        const auto result = run("half.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QVERIFY2(!result->failure, result->failure ? result->failure->text().c_str() : "");
        for (const QString& line : m_lines) QVERIFY2(!line.contains("expects float16"), qPrintable(line));
        const auto written = io::dump::readDump(path("chosen.dump"));
        QVERIFY(written && written->metadata && written->metadata->optimizeOptions);
        QCOMPARE(*written->metadata->optimizeOptions & 0xffffffff, std::uint64_t{65});
        const auto& applied = written->metadata->applied;
        QVERIFY(std::ranges::any_of(applied, [](const auto& each) { return each.first == "enable_io16xc32"; }));
        QCOMPARE(written->metadata->userInfo, std::string("kept"));
    }

    void namesOfOtherInputsAreTold() {
        set("input", "data:[1,1,1,1]");
        const auto result = run("a.dump");
        QVERIFY(!result.has_value());
        QCOMPARE(result.error().what, std::string("the model has no input 'data'"));
        QVERIFY2(result.error().hint.find("arg_0") != std::string::npos, result.error().hint.c_str());
    }

    void batchesAreRepeatedOrCut() {
        const auto four = session::withBatch(Tensor::of<float>({2, 1}, {1, 2}), 5);
        QVERIFY(four && tensor::identical(*four, Tensor::of<float>({5, 1}, {1, 2, 1, 2, 1})));
        const auto one = session::withBatch(Tensor::of<float>({2, 1}, {1, 2}), 1);
        QVERIFY(one && tensor::identical(*one, Tensor::of<float>({1, 1}, {1})));
        QVERIFY(tensor::identical(*session::withBatch(Tensor::scalar(3.0F), 4), Tensor::scalar(3.0F)));
        QVERIFY(!session::withBatch(Tensor::of<float>({0}, {}), 2).has_value());

        test::Maker maker;
        document::Document source;
        const auto x = maker.floats("x", {2, 1});
        maker.result(maker.call("y", "aten::neg", x));
        source.inputs.push_back({"x", x});
        source.graph = std::make_shared<graph::InternalGraph>(maker.graph);
        const auto dump = exporting::makeDump(source, {"[[1],[2]]"}, {});
        QVERIFY(dump && io::dump::writeDump(path("neg.dump"), *dump));
        set("batch_size", "3");
        set("bin_out_dump", path("batch"));
        const auto result = run("neg.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QVERIFY(!result->failure);  // expected values are repeated, too
        QVERIFY(identicalToFile(Tensor::of<float>({3, 1}, {-1, -2, -1}), "batch"));
    }

    /// The largest magnitude of the first case is sum[3] = 20, of its product 16.
    void rangesAreChecked() {
        set("range", "20.5");
        QVERIFY(!run("a.dump")->failure);
        set("range", "16.5");
        const auto result = run("a.dump");
        QVERIFY(result && result->failure);
        QCOMPARE(result->failure->kind, base::ErrorKind::Comparison);
        QCOMPARE(result->violations.size(), std::size_t(1));
        QVERIFY2(result->violations[0].find("value=20 range=16.5 index=[3]/[4]") != std::string::npos,
                 result->violations[0].c_str());
    }

    void valuesThatChangeBetweenRunsAreFound() {
        const auto document = test::productDocument();
        set("check_var_value", "2:1");
        const auto inspection = session::Inspection::make(m_options, document.graph, document.graph->outputs());
        QVERIFY(inspection.has_value());
        session::Inspection& look = **inspection;
        const auto product = document.graph->node(document.graph->findNode("product")).producer;
        const auto sum = document.graph->node(document.graph->findNode("sum")).producer;
        const auto pass = [&](bool isFirst, float first, float second) {
            look.begin(0, isFirst, {});
            const tensor::Value one = row({first}), other = row({second});
            look.exprFinished(product, std::span(&one, 1), 0);
            look.exprFinished(sum, std::span(&other, 1), 0);
            return look.end().has_value();
        };
        QVERIFY(pass(true, 1, 2) && pass(false, 9, 2));  // only number 1 is looked at
        QVERIFY(look.violations().empty());
        QVERIFY(pass(false, 1, 3));
        QCOMPARE(look.violations().size(), std::size_t(1));
        QVERIFY(look.violations()[0].find("#1 changed between runs: sum") != std::string::npos);
        QVERIFY(!run("a.dump")->failure);
    }

    void valuesAreWrittenAsText() {
        set("io_dump", path("io.txt"));
        QVERIFY(run("a.dump").has_value());
        const QString text = contentOf(path("io.txt"));
        QCOMPARE(text.count("==== case"), 2);
        QVERIFY2(text.contains("name=product layout=float32[4] owner_opr="), qPrintable(text));
        // Of 1, 4, 9, 16: the mean 7.5, the squares' mean 88.5, the deviation of a sample sqrt(129 / 3).
        QVERIFY2(text.contains(" val: [1, 4, 9, 16] min=1 max=16 mean=7.5 l2=9.41 sd=6.56\n"), qPrintable(text));
        QVERIFY2(text.contains(": [1, 2, 3, 4]\n"), qPrintable(text));  // what it was computed from
    }

    void valuesAreWrittenAsArrays() {
        set("bin_io_dump", path("all"));
        QVERIFY(run("a.dump").has_value());
        const auto document = document::open(path("a.dump"));
        const auto product = *(*document)->findNode("product");
        const auto file = path("all") + "/run0-var" + std::to_string(product.index()) + ".npy";
        const auto value = io::readNpyFile(file);
        QVERIFY2(value.has_value(), value ? "" : value.error().text().c_str());
        QVERIFY(tensor::identical(*value, row({1, 4, 9, 16})));
    }

    void timesAreWritten() {
        set("profile", path("profile.json"));
        set("iter", "2");
        set("input", "[1,1,1,1]");
        QVERIFY(run("a.dump").has_value());
        const auto json = nlohmann::json::parse(contentOf(path("profile.json")).toStdString());
        QCOMPARE(json.at("profiler").at("mul.Tensor").at("count").get<int>(), 1);
        QCOMPARE(json.at("profiler").at("mul.Tensor").at("bytes").get<int>(), 16);
    }

    /// Two cases: the events of each are a process of their own, and each has one mul of 16 bytes.
    void severalCasesAreInOneProfile_data() {
        QTest::addColumn<QString>("iterations");
        QTest::newRow("two iterations") << "2";
        QTest::newRow("no iterations") << "0";
    }
    void severalCasesAreInOneProfile() {
        QFETCH(QString, iterations);
        set("profile", path("profiles.json"));
        set("iter", iterations.toStdString());
        const auto result = run("a.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        for (const session::CaseResult& each : result->cases) QCOMPARE(each.checks.size(), std::size_t(1));
        const auto json = nlohmann::json::parse(contentOf(path("profiles.json")).toStdString());
        QCOMPARE(json.at("profiler").at("mul.Tensor").at("count").get<int>(), 2);
        QCOMPARE(json.at("profiler").at("mul.Tensor").at("bytes").get<int>(), 32);
        QCOMPARE(json.at("cases").size(), std::size_t(2));
        QCOMPARE(json.at("cases")[1].at("profiler").at("mul.Tensor").at("count").get<int>(), 1);
        std::map<int, int> products;
        for (const auto& event : json.at("traceEvents"))
            if (event.value("cat", "") == "aten::mul.Tensor" || event.value("cat", "") == "mul.Tensor")
                ++products[event.at("pid").get<int>()];
        QCOMPARE(products, (std::map<int, int>{{1, 1}, {2, 1}}));
    }

    /// Without iterations and with warm-ups every case is run and checked all the same.
    void everyCaseIsRunWithoutIterations() {
        set("iter", "0");
        const auto result = run("a.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QCOMPARE(result->cases.size(), std::size_t(2));
        QCOMPARE(result->cases[0].checks.size(), std::size_t(1));
        QCOMPARE(result->cases[1].checks.size(), std::size_t(1));
    }

    void memoryOfSeveralCasesIsInOneFile() {
        set("get_static_mem_info", path("memories.json"));
        QVERIFY(run("a.dump").has_value());
        const auto json = nlohmann::json::parse(contentOf(path("memories.json")).toStdString());
        QCOMPARE(json.at("cases").size(), std::size_t(2));
        for (int i = 0; i < 2; ++i) {
            QCOMPARE(json["cases"][i].at("case").get<int>(), i);
            QCOMPARE(json["cases"][i].at("values")[0].at("bytes").get<int>(), 16);
            QCOMPARE(json["cases"][i].at("peak_bytes").get<int>(), json.at("peak_bytes").get<int>());
        }
    }

    /// One of the two decides which layout it is.
    void aLayoutIsNotTransformed() {
        set("layout_transform", "cpu");
        set("enable_nchw88");
        const auto result = run("a.dump");
        QVERIFY(!result.has_value());
        QCOMPARE(result.error().kind, base::ErrorKind::Usage);
        QCOMPARE(result.error().what, std::string("--layout_transform chooses the layout itself"));
    }

    /// Without checks product and sum have 16 bytes each, and are there together while sum is computed.
    void memoryIsTold() {
        set("input", "[1,1,1,1]");
        set("get_static_mem_info", path("memory.json"));
        QVERIFY(run("a.dump").has_value());
        const auto json = nlohmann::json::parse(contentOf(path("memory.json")).toStdString());
        QCOMPARE(json.at("constant_bytes").get<int>(), 16);
        QCOMPARE(json.at("peak_bytes").get<int>(), 32);
        const auto& values = json.at("values");
        QCOMPARE(values.size(), std::size_t(2));
        QCOMPARE(values[0].at("name").get<std::string>(), std::string("product"));
        QCOMPARE(values[0].at("last_step").get<int>(), values[1].at("first_step").get<int>());
    }

    /// With 5 in place of 4 the last product of (1, 2, 3, 4) is 20 instead of 16.
    void theFirstDifferenceIsNamed() {
        document::Document changed = test::productDocument();
        auto graph = std::make_shared<graph::InternalGraph>(*changed.graph);
        graph->setConstant(graph->findNode("factors"), row({1, 2, 3, 5}));
        changed.graph = graph;
        const auto dump = exporting::makeDump(changed, {"[1,2,3,4]"}, {});
        QVERIFY(dump && io::dump::writeDump(path("changed.dump"), *dump));
        set("first_difference", path("a.dump"));
        const auto result = run("changed.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QVERIFY(!result->failure);  // its own expected values are right
        QVERIFY2(m_lines.contains("first difference from a.dump: product (mul.Tensor in block): max absolute 4; 3 of 3 "
                                  "values differ"),
                 qPrintable(m_lines.join(u'\n')));
        m_lines.clear();
        QVERIFY(run("a.dump").has_value());
        QCOMPARE(beginning(m_lines, "no difference from a.dump: 3 values agree"), 2);
    }

    /// 2, 6, 12, 20 instead of the half of it.
    void theFirstDifferenceFromTheUnoptimisedGraphIsNamed() {
        QCOMPARE(test::writeProductDump(path("wrong.dump"), {"[1,2,3,4]"}, {}, 0.5F), std::string());
        set("first_difference", "unoptimised");
        const auto result = run("wrong.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QCOMPARE(beginning(m_lines, "first difference from unoptimised: ADD ("), 1);
        QVERIFY2(
            m_lines.join(u'\n').contains("max absolute 10, AssertEqual: err=1, and 1e-04 is allowed; 2 of 3 values "
                                         "differ"),
            qPrintable(m_lines.join(u'\n')));
        set("enable_nchw88");
        QVERIFY(run("a.dump").has_value());
        QCOMPARE(beginning(m_lines, "no difference from unoptimised: "), 2);
    }

    void anUnrelatedModelIsNoReference() {
        set("first_difference", "zoo:lstm_classifier");
        const auto result = run("a.dump");
        QVERIFY(!result && result.error().kind == base::ErrorKind::Usage);
    }

    void inputsAndOutputsAreListed() {
        set("model_info");
        QVERIFY(run("a.dump").has_value());
        QVERIFY(beginning(m_lines, "INPUT ") == 1 && beginning(m_lines, "OUTPUT") == 1);
        const auto line = std::ranges::find_if(m_lines, [](const QString& text) { return text.startsWith("INPUT"); });
        QCOMPARE(line->simplified(), QString("INPUT arg_0 [4] float32"));
    }

    void otherFormsPassTheSameCases_data() {
        QTest::addColumn<QString>("option");
        for (const char* option :
             {"optimize_for_inference", "enable_nchw88", "enable_nchw44", "enable_nchw44_dot", "enable_nchw4",
              "enable_nchw32", "enable_nchw64", "enable_chwn4", "enable_nhwcd4", "enable_fuse_conv_bias_nonlinearity",
              "enable_fuse_conv_bias_with_z", "enable_fuse_grain", "enable_fuse_preprocess"})
            QTest::newRow(option) << QString(option);
    }

    void otherFormsPassTheSameCases() {
        QFETCH(QString, option);
        set(option.toStdString());
        const auto result = run("a.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QVERIFY2(!result->failure, result->failure ? result->failure->text().c_str() : "");
        QCOMPARE(result->cases.size(), std::size_t(2));
        for (const session::CaseResult& each : result->cases) QCOMPARE(each.checks.size(), std::size_t(1));
    }

    /// In float16 the expected value is converted, too, on its way to the check: neither 0.1 nor 0.2 is a float16
    /// number, but twice the one next to 0.1 is the one next to 0.2.
    void float16FormsAreChecked_data() {
        QTest::addColumn<QString>("option");
        QTest::newRow("io16xc32") << "enable_io16xc32";
        QTest::newRow("ioc16") << "enable_ioc16";
    }

    void float16FormsAreChecked() {
        QFETCH(QString, option);
        QCOMPARE(test::writeProductDump(path("a.dump"), {"[0.1,2,3,4]"}), std::string());
        set(option.toStdString());
        const auto result = run("a.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QCOMPARE(result->cases.at(0).checks.size(), std::size_t(1));
        QVERIFY(!result->cases[0].error);
        QCOMPARE(result->cases[0].checks[0].difference, 0.0);
        QCOMPARE(beginning(m_lines, "AssertEqual: err="), 1);
    }

    /// Three numbers for four factors.
    void aRunThatFailsIsTold() {
        set("input", "{3}");
        const auto result = run("a.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QVERIFY(result->failure.has_value());
        QCOMPARE(result->failure->kind, base::ErrorKind::Run);
        QCOMPARE(beginning(m_lines, "case 0 failed: "), 1);
        QCOMPARE(beginning(m_lines, "warm up "), 0);
        QVERIFY(!m_lines.join('|').contains("\\n"));
    }

    void theFastestLayoutIsWritten() {
        set("layout_transform", "cpu");
        set("layout_transform_dump", path("fast.dump"));
        const auto result = run("a.dump");
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QVERIFY(!result->failure);
        QCOMPARE(beginning(m_lines, "layout_transform: nchw88: "), 1);
        QCOMPARE(beginning(m_lines, "layout_transform: chosen: "), 1);
        m_options = {};
        const auto again = run("fast.dump");
        QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
        QVERIFY(!again->failure && again->cases.size() == 2 && again->cases[0].checks.size() == 1);
    }

    void anyModelIsRun() {
        set("iter", "1");
        session::LoadAndRunTask task;
        task.document = std::make_shared<const document::Document>(test::productDocument());
        task.options = m_options;
        const auto result = session::loadAndRun(task);
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QVERIFY(!result->failure && result->cases.size() == 1);
    }

    void optionsWithoutEffectAreKept() {
        for (const char* name : {"fast_run", "full-run", "weight_preprocess", "record_comp_seq2", "check_dispatch"})
            set(name);
        QCOMPARE(m_options.withoutEffect.size(), std::size_t(5));
        QVERIFY(run("a.dump").has_value());
        QCOMPARE(beginning(m_lines, "--full_run: no effect ("), 1);
    }

    void wrongOptionsAreUsageErrors_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("value");
        QTest::newRow("unknown") << "fast_walk"
                                 << "";
        QTest::newRow("no number") << "iter"
                                   << "many";
        QTest::newRow("negative") << "iter"
                                  << "-1";
        QTest::newRow("no threads") << "thread"
                                    << "0";
        QTest::newRow("more threads than any machine") << "thread"
                                                       << "40000";
        QTest::newRow("negative range") << "range"
                                        << "-1";
        QTest::newRow("no range") << "range"
                                  << "nan";
        QTest::newRow("empty interval") << "check_var_value"
                                        << ":3";
        QTest::newRow("no interval") << "check_var_value"
                                     << "0";
        QTest::newRow("target") << "layout_transform"
                                << "toaster";
        QTest::newRow("switch") << "fast_run"
                                << "maybe";
        QTest::newRow("no file") << "profile"
                                 << "";
        QTest::newRow("second layout") << "enable_nchw4"
                                       << "";
    }

    void wrongOptionsAreUsageErrors() {
        QFETCH(QString, name);
        QFETCH(QString, value);
        set("enable_nchw88");
        const auto done = m_options.set(name.toStdString(), value.toStdString());
        QVERIFY(!done.has_value());
        QCOMPARE(done.error().kind, base::ErrorKind::Usage);
    }

    void allOptionsOfThePageAreThere() {
        for (const char* name : {"input",
                                 "batch_size",
                                 "iter",
                                 "warmup_iter",
                                 "thread",
                                 "fast_run",
                                 "full_run",
                                 "profile",
                                 "range",
                                 "check_dispatch",
                                 "check_var_value",
                                 "io_dump",
                                 "bin_io_dump",
                                 "bin_out_dump",
                                 "copy_to_host",
                                 "model_info",
                                 "disable_assert_throw",
                                 "weight_preprocess",
                                 "optimize_for_inference",
                                 "record_comp_seq",
                                 "record_comp_seq2",
                                 "no_sanity_check",
                                 "fake_first",
                                 "const_shape",
                                 "layout_transform",
                                 "layout_transform_dump",
                                 "get_static_mem_info",
                                 "enable_nchw4",
                                 "enable_chwn4",
                                 "enable_nchw44",
                                 "enable_nchw88",
                                 "enable_nchw32",
                                 "enable_nchw64",
                                 "enable_nhwcd4",
                                 "enable_nchw44_dot",
                                 "enable_fuse_preprocess",
                                 "enable_fuse_conv_bias_nonlinearity",
                                 "enable_fuse_conv_bias_with_z"}) {
            const auto& options = session::loadAndRunOptions();
            QVERIFY2(std::ranges::find(options, name, &session::LoadAndRunOption::name) != options.end(), name);
        }
    }

  private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }

    void writeHalfDump(const char* name) {
        test::Maker maker;
        document::Document source;
        const auto x = maker.floats("x", {4});
        const auto product = maker.onnx("p", "Mul", x, maker.constant("w", row({1, 2, 3, 4})));
        const auto y = maker.onnx("y", "Relu", product);
        maker.graph.setResult(maker.graph.mainId(), test::arg(y));
        base::Diagnostics findings;
        analysis::inferTypes(maker.graph, findings);
        source.inputs.push_back({"x", x});
        source.outputs.push_back({"y", y});
        source.graph = std::make_shared<graph::InternalGraph>(maker.graph);
        exporting::DumpOptions options;
        options.userInfo = "kept";
        QVERIFY(options.inference.set("enable_io16xc32", true).has_value());
        const auto dump = exporting::makeDump(source, {"[1,2,3,4]"}, options);
        QVERIFY2(dump && io::dump::writeDump(path(name), *dump), dump ? "" : dump.error().text().c_str());
    }

    void set(const std::string& name, const std::string& value = {}) {
        const auto done = m_options.set(name, value);
        QVERIFY2(done.has_value(), done ? "" : done.error().text().c_str());
    }

    base::Result<LoadAndRunResult> run(const char* name) {
        session::LoadAndRunTask task;
        SONDE_ASSIGN(task.document, document::open(path(name)));
        task.options = m_options;
        task.form = exporting::optimisedCases;
        task.plainForm = exporting::plainForm;
        task.tell = [this](const std::string& line) { m_lines << QString::fromStdString(line); };
        return session::loadAndRun(task);
    }

    /// The one array of the first case in a folder.
    bool identicalToFile(const Tensor& expected, const char* folder) const {
        const QStringList files = QDir(m_folder.filePath(folder)).entryList({"run0-var*.npy"});
        if (files.size() != 1) return false;
        const auto value = io::readNpyFile(path(folder) + '/' + files.first().toStdString());
        return value && tensor::identical(*value, expected);
    }

    QTemporaryDir m_folder;
    QStringList m_lines;
    LoadAndRunOptions m_options;
};

QTEST_GUILESS_MAIN(TestLoadAndRun)

}  // namespace tst_load_and_run

#include "tst_load_and_run.moc"
