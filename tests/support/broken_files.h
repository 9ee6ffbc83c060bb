#pragma once

#include <QDirIterator>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/io/image/image.h"
#include "core/io/inputs/inputs.h"
#include "core/io/npz/npz.h"
#include "tests/support/forked.h"
#include "tests/support/reference_sets.h"

/// Reference files that a disk or a network broke: each truncated and with flipped bits must be refused with exit
/// status 3 or give what it still holds; never a crash, a hang of more than 10 s, or more than 2 GiB of memory. The
/// kinds of files are shared among several tests, because all of them take minutes.
namespace sonde::test {

inline constexpr int kTruncations = 20;
inline constexpr int kFlips = 200;
inline constexpr qint64 kEnds = 4096;

/// One way to break a file.
struct Break {
    qint64 size = -1;    ///< new size, or -1: keep
    qint64 offset = -1;  ///< byte whose bit is flipped, or -1: none
    int bit = 0;

    QByteArray describe() const {
        return offset < 0 ? "cut to " + QByteArray::number(size)
                          : "byte " + QByteArray::number(offset) + " bit " + QByteArray::number(bit);
    }
};

/// The same breaks for the same file at every run: flips first, then cuts from the longest to the shortest rest, so
/// that one copy serves them all.
inline QList<Break> breaksOf(const QString& name, qint64 size) {
    std::mt19937_64 random(qHash(name, 20250101));
    const auto below = [&](qint64 limit) {
        return static_cast<qint64>(random() % static_cast<quint64>(qMax<qint64>(limit, 1)));
    };
    QList<Break> breaks;
    for (int i = 0; i < kFlips; ++i) breaks << Break{-1, below(size), static_cast<int>(below(8))};
    // Most bytes of a model are weights. Its ends hold headers and directories: flip there half as often again.
    for (int i = 0; i < kFlips / 2; ++i) {
        const qint64 place = below(qMin(size, kEnds));
        breaks << Break{-1, i % 2 ? place : size - 1 - place, static_cast<int>(below(8))};
    }
    QList<qint64> sizes{size - 1, 0};
    while (sizes.size() < kTruncations) sizes << below(size);
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    for (qint64 rest : sizes) breaks << Break{rest, -1, 0};
    return breaks;
}

inline bool writeByte(QFile& file, qint64 offset, char byte) { return file.seek(offset) && file.write(&byte, 1) == 1; }

/// Zeros for every input, in the shape that is used where nothing says otherwise.
inline std::vector<tensor::Value> zeroInputs(const graph::InternalGraph& graph) {
    std::vector<tensor::Value> values;
    for (const graph::NodeId id : graph.inputs()) {
        const graph::Node& node = graph.node(id);
        const auto zeros = io::makeInput("#zeros", {node.name, node.type}, values.size());
        values.push_back(zeros ? *zeros : tensor::Value());
    }
    return values;
}

/// Nothing if the error is the one that an unreadable file must give.
inline QByteArray judge(const base::Error& error) {
    if (error.exitStatus() != 3) return "refused with another status: " + QByteArray::fromStdString(error.text());
    return error.what.empty() ? "refused without a word" : QByteArray();
}

/// Reads a file as a picture, and every array of a file of values.
inline QByteArray readAsInput(const QString& path) {
    const auto picture = io::readImage(path.toStdString());
    const QByteArray opinion = picture ? QByteArray() : judge(picture.error());
    if (!opinion.isEmpty()) return opinion;
    const auto file = io::NpzFile::open(path.toStdString());
    if (!file) return judge(file.error());
    for (const std::string& key : file->keys()) {
        const auto array = file->read(key);
        if (array) continue;
        const QByteArray verdict = judge(array.error());
        if (!verdict.isEmpty()) return verdict;
    }
    return {};
}

/// What a broken file may do: be refused as unreadable, or open as a sound graph. Running may fail, not crash.
inline QByteArray openAndRun(const QString& path, bool run) {
    const QByteArray verdict = readAsInput(path);
    if (!verdict.isEmpty()) return verdict;
    const auto document = document::open(path.toStdString());
    if (!document) return judge(document.error());
    const auto valid = (*document)->graph->validate();
    if (!valid) return "an unsound graph: " + QByteArray::fromStdString(valid.error().text());
    if (!run) return {};
    const auto plan = exec::Plan::make((*document)->graph, {});
    if (!plan) return {};
    exec::Runner runner(1);
    // A flipped bit can take a loop's end away: such a run must obey a cancel.
    std::stop_source stop;
    const std::jthread timer([&stop](const std::stop_token& done) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any wake;
        if (!wake.wait_for(lock, done, std::chrono::seconds(3), [&done] { return done.stop_requested(); }))
            stop.request_stop();
    });
    const exec::Recording recording = runner.run(**plan, zeroInputs(*(*document)->graph), {stop.get_token(), {}});
    if (recording.error && recording.error->what.empty()) return "failed without a word";
    return {};
}

inline QByteArray describe(const CaseResult& result) {
    if (result.kind == CaseResult::Failed) return result.text;
    if (result.kind == CaseResult::NotRun) return "not run";
    return result.signal == SIGALRM ? QByteArray("hangs") : "killed by signal " + QByteArray::number(result.signal);
}

/// The reference files of which `isMine` is true, relative to referenceModels(), as rows of the column "file".
inline void addFileRows(const std::function<bool(const QString&)>& isMine) {
    QTest::addColumn<QString>("file");
    const QDir models(referenceModels());
    QDirIterator it(models.path(), QDir::Files, QDirIterator::Subdirectories);
    QStringList files;
    while (it.hasNext()) files << models.relativeFilePath(it.next());
    files.sort();
    for (const QString& file : files)
        if (isMine(file)) QTest::newRow(qPrintable(file)) << file;
}

/// A writable copy of a reference file in a folder; always at the same place. Empty if it cannot be made.
inline QString brokenCopy(const QString& file, const QTemporaryDir& folder) {
    const QString copy = folder.filePath("broken");
    QFile::remove(copy);
    if (!QFile::copy(QDir(referenceModels()).filePath(file), copy)) return {};
    QFile::setPermissions(copy, QFile::ReadOwner | QFile::WriteOwner);
    return copy;
}

/// A file with the content of a sound one, broken.
inline bool writeBroken(const QString& path, const QByteArray& sound, const Break& how) {
    QByteArray bytes = how.offset < 0 ? sound.left(how.size) : sound;
    if (how.offset >= 0) bytes[how.offset] = static_cast<char>(bytes.at(how.offset) ^ (1 << how.bit));
    QFile file(path);
    return file.open(QIODevice::WriteOnly | QIODevice::Truncate) && file.write(bytes) == bytes.size();
}

/// Opens the file broken in each way. What went wrong; empty if nothing did. Whoever opens a file waits until a later
/// change would get another time: of small files many are written before the first is opened, so that one wait is
/// enough.
inline QByteArray openBroken(const QString& file, const QTemporaryDir& folder) {
    constexpr int kAtOnce = 64;
    constexpr qint64 kSmall = 1 << 18;
    const QString path = brokenCopy(file, folder);
    QFile broken(path);
    if (!broken.open(QIODevice::ReadWrite | QIODevice::Unbuffered)) return "cannot copy the file";
    const QByteArray sound = broken.readAll();
    const QList<Break> breaks = breaksOf(file, sound.size());
    const int count = static_cast<int>(breaks.size());
    const bool small = sound.size() < (1 << 19);
    const auto copyPath = [&](int i) { return path + QString::number(i % kAtOnce); };
    const QList<CaseResult> results = runForked(count, {}, [&](int i) -> QByteArray {
        const Break& how = breaks.at(i);
        const bool runs = how.offset >= 0 && small && i % 10 == 0;
        if (sound.size() <= kSmall) {
            for (int j = i; i % kAtOnce == 0 && j < std::min(i + kAtOnce, count); ++j)
                if (!writeBroken(copyPath(j), sound, breaks.at(j))) return "cannot break a copy";
            return openAndRun(copyPath(i), runs);
        }
        const qint64 before = i > 0 ? breaks.at(i - 1).offset : -1;
        if (before >= 0 && !writeByte(broken, before, sound.at(before))) return "cannot mend the copy";
        if (how.offset < 0) return broken.resize(how.size) ? openAndRun(path, runs) : QByteArray("cannot cut the copy");
        const char flipped = static_cast<char>(sound.at(how.offset) ^ (1 << how.bit));
        return writeByte(broken, how.offset, flipped) ? openAndRun(path, runs) : "cannot break the copy";
    });
    if (results.size() != breaks.size()) return "cases are missing";
    QByteArrayList bad;
    for (int i = 0; i < results.size(); ++i) {
        if (results.at(i).kind != CaseResult::Passed) bad << breaks.at(i).describe() + ": " + describe(results.at(i));
    }
    if (bad.isEmpty()) return {};
    return QByteArray::number(bad.size()) + " of " + QByteArray::number(results.size()) + ":\n" +
           bad.mid(0, 12).join('\n');
}

}  // namespace sonde::test
