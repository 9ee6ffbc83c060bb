// Dumps on the command line: every verb opens them, and load-and-run runs their test cases. Values are worked by hand:
// of x the small dump computes product = x · (1, 2, 3, 4) and sum = product + x, its output ADD.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/io/npz/npz.h"
#include "tests/support/run_sonde.h"
#include "tests/support/small_dump.h"

namespace tst_dump_verbs {

using namespace sonde;
using tensor::Tensor;
using test::Outcome;
using test::runSonde;

namespace {

Tensor row(std::vector<float> values) { return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values); }

}  // namespace

class TestDumpVerbs : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        QCOMPARE(test::writeProductDump(path("plain.dump").toStdString(), {}), std::string());
        QCOMPARE(test::writeProductDump(path("cases.dump").toStdString(), {"[1,2,3,4]", "[0,0,0,1]"}), std::string());
        QCOMPARE(test::writeProductDump(path("wrong.dump").toStdString(), {"[1,2,3,4]"}, {}, 0.5F), std::string());
        const std::vector<io::NamedTensor> reference{
            {"in.arg_0", row({1, 2, 3, 4})}, {"node.product", row({1, 4, 9, 16})}, {"out.ADD", row({2, 6, 12, 20})}};
        QVERIFY(io::writeNpz(path("reference.npz").toStdString(), reference));
    }

    void everyVerbOpensADump_data() {
        QTest::addColumn<QStringList>("arguments");
        const QString verbs = runSonde({"--help"}).out;
        for (const char* name : {"plain.dump", "cases.dump"}) {
            const QString dump = path(name);
            const QList<QStringList> commands{{"trace", dump},
                                              {"trace", dump, "--format", "json"},
                                              {"run", dump, "--input-data", "[1,1,1,1]", "--watch-all"},
                                              {"info", dump},
                                              {"check", dump, path("reference.npz")},
                                              {"problems", dump},
                                              {"bench", dump, "--repeat", "2"},
                                              {"save", dump, "-o", path("saved.onnx")},
                                              {"dump", dump, "-o", path("again.dump"), "--input-data", "[1,2,3,4]"},
                                              {"render", dump, "-o", path("graph.dot")},
                                              {"window", dump, "--screenshot", path("window.png")},
                                              {"load-and-run", dump, "--iter", "2"}};
            for (const QStringList& arguments : commands) {
                if (!verbs.contains("\n  " + arguments.front() + ' ')) continue;  // a build without the window
                QTest::addRow("%s %s %s", qPrintable(arguments.front()), name,
                              arguments.size() > 3 ? qPrintable(arguments.at(3)) : "")
                    << arguments;
            }
        }
    }

    void everyVerbOpensADump() {
        QFETCH(QStringList, arguments);
        const Outcome outcome = runSonde(arguments);
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    }

    void whatIsSavedIsTheModel() {
        QCOMPARE(runSonde({"save", path("cases.dump"), "-o", path("model.onnx")}).status, 0);
        const Outcome outcome = runSonde({"check", path("model.onnx"), path("reference.npz")});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.out + outcome.err));
    }

    void runsOnNewInputAreOfTheModel() {
        const Outcome outcome = runSonde({"run", path("cases.dump"), "--input-data", "arg_0:[10,20,30,40]", "--watch",
                                          "product", "--out", path("values.npz")});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
        const auto values = io::NpzFile::open(path("values.npz").toStdString());
        QVERIFY(values.has_value());
        QVERIFY(tensor::identical(*values->read("out.ADD"), row({20, 60, 120, 200})));
        QVERIFY(tensor::identical(*values->read("node.product"), row({10, 40, 90, 160})));
        QVERIFY(!values->has("in.ADD:expect"));
    }

    void testCasesRunAndTellTheirErrors() {
        const Outcome good = runSonde({"load-and-run", path("cases.dump"), "--iter=2", "--warmup-iter", "0"});
        QVERIFY2(good.status == 0, qPrintable(good.err));
        QCOMPARE(good.out.count("AssertEqual: err=0 (name=ADD id="), 2);
        QCOMPARE(good.out.count("\niter "), 4);
        QVERIFY(!good.out.contains("warm up"));
        const Outcome wrong = runSonde({"load-and-run", path("wrong.dump"), "--iter", "1"});
        QCOMPARE(wrong.status, 1);
        QVERIFY(wrong.out.contains("AssertEqual: err=1 (name=ADD id="));
        QVERIFY2(wrong.err.contains("sonde: error: AssertEqual: err=1"), qPrintable(wrong.err));
        QCOMPARE(runSonde({"load-and-run", path("wrong.dump"), "--disable_assert_throw"}).status, 0);
        QCOMPARE(runSonde({"load-and-run", path("wrong.dump"), "--disable-assert-throw"}).status, 0);
    }

    void optionsAreChecked_data() {
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<int>("status");
        QTest::newRow("input") << QStringList{"--input", "[1,2,3,4]"} << 0;
        QTest::newRow("input of another size") << QStringList{"--input", "[[1,2]]"} << 2;
        QTest::newRow("no such input") << QStringList{"--input", "q:[1]"} << 2;
        QTest::newRow("no effect") << QStringList{"--fast_run", "--copy-to-host", "--record_comp_seq"} << 0;
        QTest::newRow("a layout") << QStringList{"--enable_nchw88"} << 0;
        QTest::newRow("no layout") << QStringList{"--enable_nchw88=false"} << 0;
        QTest::newRow("two layouts") << QStringList{"--enable_nchw88", "--enable-nchw4"} << 2;
        QTest::newRow("range") << QStringList{"--range", "19"} << 1;
        QTest::newRow("unknown") << QStringList{"--fast_walk"} << 2;
        QTest::newRow("no number") << QStringList{"--iter", "x"} << 2;
        QTest::newRow("a folder that cannot be made") << QStringList{"--bin_out_dump", "/proc/none"} << 4;
    }

    void optionsAreChecked() {
        QFETCH(QStringList, options);
        QFETCH(int, status);
        // Switches take no value: the file may come after them.
        const Outcome outcome = runSonde(QStringList{"load-and-run"} + options + QStringList{path("cases.dump")});
        QVERIFY2(outcome.status == status, qPrintable(outcome.out + outcome.err));
    }

    void optionsThatDoNothingAreRefused() {
        QFile other(path("other.json"));
        QVERIFY(other.open(QIODevice::WriteOnly) && other.write("[1]") == 3);
        other.close();
        for (const QStringList& options :
             {QStringList{"--append-json"}, QStringList{"--json"}, QStringList{"--offset", "0"},
              QStringList{"--user-info", "a", "--user-info-file", path("plain.dump")},
              QStringList{"--append-json", "--strip-info-file", path("other.json")}}) {
            const Outcome outcome = runSonde(QStringList{"dump", "zoo:seed", "-o", path("none.dump")} + options);
            QVERIFY2(outcome.status == 2, qPrintable(options.join(' ') + outcome.err));
            QVERIFY(!QFile::exists(path("none.dump")));
        }
        QCOMPARE(runSonde({"run", path("plain.dump"), "--input-data", "[[1,2,3,4]]"}).status, 2);
    }

    /// The names of MegEngine's keywords, with underscores and with dashes: status 2 would be an unknown option.
    void optionsHaveTheNamesOfTheReference_data() {
        QTest::addColumn<QStringList>("options");
        const QStringList switches{"append",
                                   "keep_opr_name",
                                   "keep_param_name",
                                   "keep_opr_priority",
                                   "no_change_graph",
                                   "optimize_for_inference",
                                   "enable_metadata",
                                   "silent",
                                   "no_assert",
                                   "resize_input",
                                   "enable_io16xc32",
                                   "enable_ioc16",
                                   "enable_hwcd4",
                                   "enable_nchw88",
                                   "enable_nchw44",
                                   "enable_nchw44_dot",
                                   "enable_nchw4",
                                   "enable_nchw32",
                                   "enable_chwn4",
                                   "enable_nchw64",
                                   "enable_fuse_conv_bias_nonlinearity",
                                   "enable_fuse_conv_bias_with_z",
                                   "enable_fuse_preprocess",
                                   "enable_fuse_grain"};
        const QList<QStringList> values{{"arg_names", "a"},
                                        {"output_names", "b"},
                                        {"keep_var_name", "2"},
                                        {"user_info", "x"},
                                        {"input_data", "[0]"},
                                        {"repeat", "1"},
                                        {"maxerr", "1"},
                                        {"input_transform", "data"},
                                        {"dump_format", "FBS"},
                                        {"model_version", "2"},
                                        {"strip_info_file", path("strip.json")},
                                        {"compat_older_version", "8.14"}};
        const auto add = [](const QString& name, const QStringList& words) {
            QString dashes = name;
            for (const QString& spelled : {name, dashes.replace(u'_', u'-')})
                QTest::addRow("%s", qPrintable(spelled)) << QStringList{"--" + spelled} + words;
        };
        for (const QString& name : switches) {
            add(name, {});
            QTest::addRow("%s off", qPrintable(name)) << QStringList{"--" + name + "=false"};
        }
        for (const QStringList& each : values) add(each[0], {each[1]});
        QTest::newRow("append_json") << QStringList{"--append_json", "--strip_info_file", path("strip2.json")};
    }
    void optionsHaveTheNamesOfTheReference() {
        QFETCH(QStringList, options);
        QStringList command{"dump", "zoo:seed", "-o", path("named.dump")};
        if (options[0] == u"--compat_older_version" || options[0] == u"--compat-older-version")
            command << "--dump_format"
                    << "FBS";
        const Outcome outcome = runSonde(command + options);
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    }

    /// They do what --option and --no-… do.
    void namesOfTheReferenceHaveTheirEffect() {
        const auto dumped = [this](const QStringList& options) {
            const Outcome outcome =
                runSonde(QStringList{"dump", "zoo:resnet18_slim", "-o", path("same.dump")} + options);
            QFile file(path("same.dump"));
            return outcome.status == 0 && file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        const QByteArray plain = dumped({}), packed = dumped({"--option", "enable_nchw88"});
        QVERIFY(!plain.isEmpty() && plain != packed);
        QCOMPARE(dumped({"--enable_nchw88"}), packed);
        QCOMPARE(dumped({"--enable-nchw88"}), packed);
        QCOMPARE(dumped({"--enable_nchw88=false"}), plain);
        QCOMPARE(dumped({"--optimize_for_inference", "--enable_metadata"}), plain);
        const QByteArray untouched = dumped({"--no-optimize-for-inference"});
        QVERIFY(untouched != plain);
        QCOMPARE(dumped({"--optimize_for_inference=false"}), untouched);
        QCOMPARE(dumped({"--enable_metadata=false"}), dumped({"--no-metadata"}));
        for (const QStringList& wrong : {QStringList{"--enable_nchw88", "--enable_nchw4"},
                                         QStringList{"--enable_nchw88", "--option", "enable_nchw4"},
                                         QStringList{"--optimize_for_inference", "--no-optimize-for-inference"}})
            QCOMPARE(runSonde(QStringList{"dump", "zoo:seed", "-o", path("none.dump")} + wrong).status, 2);
        const Outcome told = runSonde(
            {"dump", "zoo:resnet18_slim", "-o", path("told.dump"), "--enable_nchw88", "--no-optimize-for-inference"});
        QVERIFY2(told.err.contains("--enable_nchw88 has no effect with --no-optimize-for-inference"),
                 qPrintable(told.err));
    }

    /// Without data there are no test cases for them; MegEngine takes them all the same.
    void optionsWithoutDataAreTold() {
        for (const QStringList& options :
             {QStringList{"--silent"}, QStringList{"--no-assert"}, QStringList{"--resize-input"},
              QStringList{"--repeat", "2"}, QStringList{"--maxerr", "1"}, QStringList{"--input-transform", "data"}}) {
            const QStringList command{"dump", "zoo:seed", "-o", path("told.dump")};
            const Outcome without = runSonde(command + options);
            QCOMPARE(without.status, 0);
            const QString warning = "sonde: warning: " + options.front() + " has no effect without --input-data\n";
            QVERIFY2(without.err.contains(warning), qPrintable(without.err));
            const Outcome with = runSonde(command + options + QStringList{"--input-data", "[0]"});
            QVERIFY2(with.status == 0 && !with.err.contains("no effect"), qPrintable(with.err));
        }
        const Outcome off =
            runSonde({"dump", "zoo:seed", "-o", path("told.dump"), "--no-metadata", "--user-info", "x"});
        QVERIFY2(off.err.contains("--user-info has no effect with --no-metadata"), qPrintable(off.err));
        const Outcome plain = runSonde({"dump", "zoo:resnet18_slim", "-o", path("told.dump"), "--option",
                                        "enable_nchw88", "--no-optimize-for-inference"});
        QVERIFY2(plain.err.contains("--option enable_nchw88 has no effect with --no-optimize-for-inference"),
                 qPrintable(plain.err));
        const Outcome empty = runSonde({"dump", "zoo:seed", "-o", path("empty.dump"), "--input-data", ""});
        QCOMPARE(empty.status, 2);
        QVERIFY(!QFile::exists(path("empty.dump")));
    }

    /// Options that another one overrules.
    void overruledOptionsAreTold() {
        const QStringList command{"dump", "zoo:seed", "-o", path("told.dump"), "--input-data", "[0]"};
        const auto warned = [&](const QStringList& options, const QString& why) {
            const Outcome outcome = runSonde(command + options);
            return outcome.status == 0 &&
                   outcome.err.contains("sonde: warning: " + options.front() + " has no effect " + why + '\n');
        };
        QVERIFY(warned({"--maxerr", "1", "--no-assert"}, "with --no-assert"));
        QVERIFY(warned({"--silent", "--no-assert"}, "with --no-assert"));
        QVERIFY(warned({"--no-change-graph"}, "with --dump-format FBS_V2"));
        QVERIFY(warned({"--model-version", "5", "--dump-format", "FBS"}, "with --dump-format FBS"));
        QVERIFY(!warned({"--no-change-graph", "--dump-format", "FBS"}, "with --dump-format FBS"));
        const Outcome checked =
            runSonde({"dump", path("cases.dump"), "--check", "--silent", "--repeat", "2", "--option", "enable_nchw88",
                      "-o", path("never.dump"), "--tracer", "robust", "--pass", "fold-constant", "--no-groups"});
        for (const char* option : {"--tracer", "--pass", "--no-groups"})
            QVERIFY2(checked.err.contains(QString::fromLatin1(option) + " has no effect with --check\n"),
                     qPrintable(checked.err));
        QVERIFY2(!checked.err.contains("--flatten has"), qPrintable(checked.err));
        QVERIFY2(checked.err.contains("--repeat has no effect with --check\n"), qPrintable(checked.err));
        QVERIFY2(checked.err.contains("--option has no effect with --check\n"), qPrintable(checked.err));
        QVERIFY2(checked.err.contains("--out has no effect with --check\n"), qPrintable(checked.err));
        QVERIFY2(!checked.err.contains("--silent has"), qPrintable(checked.err));
        QVERIFY(!QFile::exists(path("never.dump")));
    }

    void namesMayBeLeftOut() {
        const Outcome outcome = runSonde({"dump", "zoo:seed", "-o", path("named.dump"), "--arg-names", "a,,b"});
        QCOMPARE(outcome.status, 2);
        QVERIFY2(outcome.err.contains("wrong number of arg_names, should be 1 values"), qPrintable(outcome.err));
    }

    void theUserInfoIsNotOverwritten() {
        const QString info = path("info.txt");
        QFile file(info);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("mine") == 4);
        file.close();
        for (const QStringList& outputs :
             {QStringList{"-o", info}, QStringList{"-o", path("x.dump"), "--strip-info-file", info}}) {
            const Outcome outcome = runSonde(QStringList{"dump", "zoo:seed", "--user-info-file", info} + outputs);
            QVERIFY2(outcome.status == 2 && outcome.err.contains("would be overwritten"), qPrintable(outcome.err));
            QVERIFY(file.open(QIODevice::ReadOnly));
            QCOMPARE(file.readAll(), QByteArray("mine"));
            file.close();
        }
    }

    /// One exit status for all of them: the run failed.
    void unwritableFilesFailTheRun_data() {
        QTest::addColumn<QStringList>("command");
        const QString file = "/proc/none/file";
        QTest::newRow("dump") << QStringList{"dump", "zoo:seed", "-o", file};
        QTest::newRow("save") << QStringList{"save", "zoo:seed", "-o", file};
        QTest::newRow("trace") << QStringList{"trace", "zoo:seed", "--tracer", "traced-module", "--save", file};
        QTest::newRow("run") << QStringList{"run", "zoo:seed", "--out", file};
        QTest::newRow("profile") << QStringList{"run", "zoo:seed", "--profile", file};
        QTest::newRow("problems") << QStringList{"problems", "zoo:seed", "--junit", file};
        QTest::newRow("render") << QStringList{"render", "zoo:seed", "-o", file + ".svg"};
        QTest::newRow("io_dump") << QStringList{"load-and-run", path("plain.dump"), "--io_dump", file};
    }
    void unwritableFilesFailTheRun() {
        QFETCH(QStringList, command);
        const Outcome outcome = runSonde(command);
        QVERIFY2(outcome.status == 4, qPrintable(outcome.err));
        QVERIFY2(outcome.err.contains("cannot be written"), qPrintable(outcome.err));
    }

    /// Layouts write a model for the sizes of its first test case.
    void casesOfOtherSizesAreToldWithLayouts() {
        const Outcome outcome =
            runSonde({"dump", "zoo:resnet18_slim", "-o", path("sizes.dump"), "--option", "enable_nchw88",
                      "--input-data", "#rand(0,1,1,3,32,32)", "--input-data", "#rand(0,1,2,3,32,32)"});
        QCOMPARE(outcome.status, 2);
        const QString told =
            "input 'arg_0' is float32[2,3,32,32], and the first test case has fixed its sizes: float32[1,3,32,32]";
        QVERIFY2(outcome.err.startsWith("sonde: error: " + told + " (test case 1; "), qPrintable(outcome.err));
    }

  private:
    QString path(const char* name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestDumpVerbs)

}  // namespace tst_dump_verbs

#include "tst_dump_verbs.moc"
