#include "ui/panels/inputs/sound_player.h"

#include <QByteArray>

#ifdef SONDE_HAS_MULTIMEDIA
#include <QAudioFormat>
#include <QAudioSink>
#include <QBuffer>
#include <QMediaDevices>
#endif

#include <algorithm>
#include <cmath>

namespace sonde::panels {

#ifdef SONDE_HAS_MULTIMEDIA

namespace {

/// One channel of 16 bits: every device takes it. NaN is silence.
QByteArray samplesOf(const tensor::Tensor& sound) {
    const std::int64_t count = sound.rank() > 0 ? sound.shape()[sound.rank() - 1] : 0;
    const double scale = tensor::isFloating(sound.dtype()) ? 32767.0 : 1.0;
    QByteArray bytes(static_cast<qsizetype>(count) * 2, Qt::Uninitialized);
    auto* const to = reinterpret_cast<qint16*>(bytes.data());
    for (std::int64_t i = 0; i < count; ++i) {
        const double sample = std::clamp(sound.toDouble(i) * scale, -32768.0, 32767.0);
        to[i] = std::isnan(sample) ? qint16{0} : static_cast<qint16>(std::lround(sample));
    }
    return bytes;
}

}  // namespace

struct SoundPlayer::Output {
    QBuffer samples;
    std::unique_ptr<QAudioSink> sink;
};

bool SoundPlayer::isThere() { return !QMediaDevices::defaultAudioOutput().isNull(); }

void SoundPlayer::play(const tensor::Tensor& sound, int rate) {
    stop();
    QAudioFormat format;
    format.setSampleRate(rate);
    format.setChannelCount(1);
    format.setSampleFormat(QAudioFormat::Int16);
    m_output = std::make_unique<Output>();
    m_output->samples.setData(samplesOf(sound));
    m_output->samples.open(QIODevice::ReadOnly);
    m_output->sink = std::make_unique<QAudioSink>(format);
    connect(m_output->sink.get(), &QAudioSink::stateChanged, this, [this](QAudio::State state) {
        if (state == QAudio::IdleState) QMetaObject::invokeMethod(this, &SoundPlayer::stop, Qt::QueuedConnection);
    });
    m_output->sink->start(&m_output->samples);
    Q_EMIT changed();
}

void SoundPlayer::stop() {
    if (!m_output) return;
    m_output->sink->disconnect(this);
    m_output->sink->stop();
    m_output.reset();
    Q_EMIT changed();
}

#else

struct SoundPlayer::Output {};

bool SoundPlayer::isThere() { return false; }

void SoundPlayer::play(const tensor::Tensor&, int) {}

void SoundPlayer::stop() {}

#endif

SoundPlayer::SoundPlayer(QObject* parent) : QObject(parent) {}

SoundPlayer::~SoundPlayer() = default;

bool SoundPlayer::isPlaying() const { return m_output != nullptr; }

}  // namespace sonde::panels
