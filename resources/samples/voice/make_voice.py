#!/usr/bin/env python3
"""Writes voice.wav: half a second of silence, a synthetic voice that says vowels, and silence again. Needs numpy.

The voice is computed here: pulses of a vocal fold at a falling pitch through resonances of the vocal tract (formants after
Peterson and Barney 1952, a man's), with some breath. It is nobody's voice and contains no recording.
"""
import math
import os
import wave

import numpy as np

RATE = 16000
SILENCE = 0.5
# formants in Hz, and how long the sound lasts, in seconds; between two the formants glide
VOWELS = [((300, 870, 2240), 0.10), ((730, 1090, 2440), 0.22), ((270, 2290, 3010), 0.22), ((530, 1840, 2480), 0.16),
          ((570, 840, 2410), 0.22), ((640, 1190, 2390), 0.14)]
BANDWIDTHS = (70, 100, 140)


def track(values, times, count):
    return np.interp(np.arange(count) / RATE, times, values)


def voice():
    lengths = [length for _, length in VOWELS]
    count = int(sum(lengths) * RATE)
    middles = np.cumsum(lengths) - np.array(lengths) / 2
    random = np.random.RandomState(19)
    seconds = np.arange(count) / RATE
    pitch = track([118, 132, 120, 98], [0, 0.25, 0.6, sum(lengths)], count) + 2.5 * np.sin(2 * math.pi * 5.2 * seconds)
    phase = np.cumsum(pitch / RATE)
    opened = phase % 1.0
    flow = np.where(opened < 0.6, np.sin(math.pi * opened / 0.6) ** 2, 0)  # of air, each period
    source = np.diff(flow, prepend=0) + random.randn(count) * 0.002
    sound = source
    for k, bandwidth in enumerate(BANDWIDTHS):
        formant = track([f[k] for f, _ in VOWELS], middles, count)
        sound = resonated(sound, formant, bandwidth)
    loudness = track([0, 1, 0.75, 1, 0.7, 0.9, 0], [0, 0.07, 0.3, 0.45, 0.62, 0.8, sum(lengths)], count)
    return sound * loudness


def resonated(x, formant, bandwidth):
    """Klatt's digital resonator (1980): y[n] = a x[n] + b y[n-1] + c y[n-2]."""
    c = -math.exp(-2 * math.pi * bandwidth / RATE)
    b = 2 * math.exp(-math.pi * bandwidth / RATE) * np.cos(2 * math.pi * formant / RATE)
    y = np.zeros(len(x) + 2)
    for n in range(len(x)):
        y[n + 2] = (1 - b[n] - c) * x[n] + b[n] * y[n + 1] + c * y[n]
    return y[2:]


def main():
    speech = voice()
    silence = np.zeros(int(SILENCE * RATE))
    sound = np.concatenate([silence, speech / np.abs(speech).max() * 0.5, silence])
    sound += np.random.RandomState(1).randn(len(sound)) * 2e-4
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'voice.wav')
    with wave.open(path, 'wb') as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.clip(np.round(sound * 32767), -32768, 32767).astype('<i2').tobytes())


if __name__ == '__main__':
    main()
